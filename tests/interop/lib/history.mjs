// Converts a history to a common form, whichever API it was sent to: a list of lines
//   user: text | assistant: text | call#N name {input} | result#N text | error#N text | image
// Calls are numbered in order, because their ids may differ between APIs. Texts that a program adds on its own (its
// environment, its reminders, the words around a summary) are left out.

const kAdded = /^\s*(<(system-reminder|session_context|environment_context|skills_instructions|permissions|user_instructions|hook_context)|# AGENTS\.md|No response requested\.|\(no content\))/;
const kSummary = /^The conversation history before this point was compacted[\s\S]*?<summary>\n([\s\S]*?)\n<\/summary>\s*$/;
const kBranchSummary = /^The following is a summary of a branch[\s\S]*?<summary>\n([\s\S]*?)<\/summary>\s*$/;

class Collector {
  constructor(prompt, thoughts) {
    this.prompt = prompt;
    this.thoughts = thoughts;
    this.items = [];
    this.numbers = new Map();
    this.role = undefined;
  }

  text(role, text) {
    if (typeof text !== 'string' || text.trim() === '' || kAdded.test(text) || text.includes(this.prompt)) return;
    const words = (text.match(kSummary)?.[1] ?? text.match(kBranchSummary)?.[1] ?? text).trim();
    if (role === 'assistant' && this.thoughts.includes(words)) return;
    if (this.role === role) this.items[this.items.length - 1] += `\n${words}`;
    else this.items.push(`${role}: ${words}`);
    this.role = role;
  }

  add(line) {
    this.items.push(line);
    this.role = undefined;
  }

  image() {
    this.add('image');
  }

  call(id, name, input) {
    this.numbers.set(id, this.numbers.size);
    this.add(`call#${this.numbers.get(id)} ${name} ${JSON.stringify(input)}`);
  }

  result(id, text, error) {
    this.add(`${error ? 'error' : 'result'}#${this.numbers.get(id)} ${text.trim()}`);
  }
}

function parseArguments(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { arguments: text };
  }
}

/// Returns the text of a result that is a string or a list of blocks; images in it become items of their own.
function resultText(content, collector) {
  if (typeof content === 'string') return content;
  const texts = [];
  for (const block of content ?? []) {
    if (typeof block.text === 'string') texts.push(block.text);
    else if (/image/.test(block.type)) collector.pendingImages = (collector.pendingImages ?? 0) + 1;
  }
  return texts.join('\n');
}

function flushImages(collector) {
  for (; collector.pendingImages > 0; --collector.pendingImages) collector.image();
}

function fromAnthropic(messages, collector) {
  for (const message of messages) {
    const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    for (const block of blocks) {
      if (block.type === 'text') collector.text(message.role, block.text);
      if (block.type === 'image') collector.image();
      if (block.type === 'tool_use') collector.call(block.id, block.name, block.input);
      if (block.type === 'tool_result') {
        collector.result(block.tool_use_id, resultText(block.content, collector), block.is_error);
        flushImages(collector);
      }
    }
  }
}

/// Results in this API have no error flag; the text begins with a word instead.
function responsesResult(item, collector) {
  const text = resultText(item.output, collector);
  const error = text.startsWith('Error: ') || text === 'Error:';
  collector.result(item.call_id, error ? text.slice('Error: '.length) : text, error);
  flushImages(collector);
}

function fromResponses(items, collector) {
  for (const item of items) {
    if (item.type === 'message') {
      if (item.role === 'developer' || item.role === 'system') continue;
      for (const block of item.content) {
        if (/text/.test(block.type)) collector.text(item.role, block.text);
        if (/image/.test(block.type)) collector.image();
      }
    }
    if (item.type === 'function_call') collector.call(item.call_id, item.name, parseArguments(item.arguments));
    if (item.type === 'custom_tool_call') collector.call(item.call_id, item.name, { input: item.input });
    if (item.type === 'local_shell_call') collector.call(item.call_id, 'local_shell', item.action);
    if (/_call_output$/.test(item.type)) responsesResult(item, collector);
  }
}

function fromGemini(contents, collector) {
  for (const content of contents) {
    const role = content.role === 'model' ? 'assistant' : 'user';
    for (const part of content.parts) {
      if (part.text !== undefined && !part.thought) collector.text(role, part.text);
      if (part.inlineData) collector.image();
      if (part.functionCall) collector.call(part.functionCall.id, part.functionCall.name, part.functionCall.args ?? {});
      if (part.functionResponse) {
        const { id, response } = part.functionResponse;
        const error = response.error !== undefined;
        const value = error ? response.error : response.output ?? response.result ?? response;
        collector.result(id, typeof value === 'string' ? value : JSON.stringify(value), error);
        for (const inner of part.functionResponse.parts ?? []) if (inner.inlineData) collector.image();
      }
    }
  }
}

/// `history` is what was sent to one of the three APIs.
export function plainHistory(history, prompt, thoughts = []) {
  const collector = new Collector(prompt, thoughts);
  if (history.some((item) => item.parts)) fromGemini(history, collector);
  else if (history.some((item) => item.type && item.type !== 'text')) fromResponses(history, collector);
  else fromAnthropic(history, collector);
  return collector.items;
}
