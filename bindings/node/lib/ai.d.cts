import type { UIMessage, UIMessageChunk } from 'ai' with { 'resolution-mode': 'import' };
import type { Store, StoreOptions } from './index.cjs';

/** A chat of the Vercel AI SDK. */
export class BoughChat<Message extends UIMessage = UIMessage> {
  constructor(options: { store: Store; chatId: string });
  static open<Message extends UIMessage = UIMessage>(location: string | undefined, options: StoreOptions & { chatId: string }): Promise<BoughChat<Message>>;
  close(): Promise<void>;
  load(): Promise<Message[]>;
  save(messages: Message[]): Promise<void>;
  record(streamId: string, stream: ReadableStream<UIMessageChunk>): ReadableStream<UIMessageChunk>;
  /** Settles when the most recent recording is completely stored. */
  recorded?: Promise<void>;
  resume(streamId: string, options?: { idleMs?: number }): Promise<ReadableStream<UIMessageChunk> | null>;
}
