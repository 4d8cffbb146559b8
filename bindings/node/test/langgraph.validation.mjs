// LangGraph's own test suite for checkpointers, unchanged: vitest run --globals.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { BoughSaver } from 'bough/langgraph';

const folders = new Map();
const initializer = {
  checkpointerName: 'bough/langgraph',
  async createCheckpointer() {
    const folder = mkdtempSync(path.join(tmpdir(), 'bough-'));
    const saver = await BoughSaver.open(folder);
    folders.set(saver, folder);
    return saver;
  },
  async destroyCheckpointer(saver) {
    await saver.close();
    rmSync(folders.get(saver), { recursive: true });
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
