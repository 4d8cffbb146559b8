// Simulates the model: a server on the loopback interface that implements the three APIs of the agents, records the
// history of the request that ends with the prompt, and answers "ok".
import http from 'node:http';
import zlib from 'node:zlib';

const kUsage = { input_tokens: 1, output_tokens: 1 };

function sendEvents(response, events) {
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function answerAnthropic(response, request) {
  sendEvents(response, [
    { type: 'message_start', message: { id: 'msg_model', type: 'message', role: 'assistant', model: request.model, content: [], stop_reason: null, stop_sequence: null, usage: kUsage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: kUsage },
    { type: 'message_stop' },
  ]);
}

function answerResponses(response) {
  const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
  sendEvents(response, [
    { type: 'response.created', response: { id: 'resp_model' } },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_model', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] } },
    { type: 'response.completed', response: { id: 'resp_model', usage } },
  ]);
}

function answerGemini(response, url) {
  const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
  if (!url.includes('stream')) {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(answer));
  }
  response.setHeader('content-type', 'text/event-stream');
  response.end(`data: ${JSON.stringify(answer)}\n\n`);
}

const kApis = [
  { matches: (url) => url.startsWith('/v1/messages') && !url.includes('count_tokens'), history: (body) => body.messages, answer: answerAnthropic },
  { matches: (url) => url.startsWith('/v1/responses'), history: (body) => body.input, answer: answerResponses },
  { matches: (url) => url.includes('enerateContent'), history: (body) => body.contents, answer: (response, _body, url) => answerGemini(response, url) },
];

function decode(request, chunks) {
  let bytes = Buffer.concat(chunks);
  const encoding = request.headers['content-encoding'];
  if (encoding === 'gzip') bytes = zlib.gunzipSync(bytes);
  if (encoding === 'zstd' && zlib.zstdDecompressSync) bytes = zlib.zstdDecompressSync(bytes);
  return JSON.parse(bytes.toString());
}

/// Starts a model. `history` is what the agent sent with the prompt, in the API's own form; undefined until then.
export async function startModel(prompt) {
  const model = { history: undefined };
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const api = kApis.find((candidate) => candidate.matches(request.url));
      let body;
      try {
        body = decode(request, chunks);
      } catch {
        body = undefined;
      }
      const history = body && api?.history(body);
      if (!history) {
        response.statusCode = request.url.includes('count') ? 200 : 404;
        return response.end('{"input_tokens":1,"totalTokens":1}');
      }
      if (!model.history && JSON.stringify(history.at(-1)).includes(prompt)) model.history = history;
      api.answer(response, body, request.url);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  model.url = `http://127.0.0.1:${server.address().port}`;
  model.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return model;
}
