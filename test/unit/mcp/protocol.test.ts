/** The Model Context Protocol: the response to each message. */
import test from 'ava';
import { answer, type Server } from '../../../ts-frontend/src/mcp/protocol.js';

const server: Server = {
  name: 'quartz',
  version: '1',
  instructions: 'ask',
  tools: [
    {
      name: 'echo',
      description: 'says it again',
      arguments: { word: { description: 'what', required: true } },
      call: ({ word }) => {
        if (word === 'bad') throw new Error('no such word; say another');
        return `${word ?? ''}!`;
      },
    },
  ],
};
const ask = (method: string, params?: object): unknown =>
  (JSON.parse(answer(server, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))!) as { result: unknown })
    .result;

test('initialize: the revision that was asked for, if it is known', (t) => {
  for (const [asked, given] of [
    ['2024-11-05', '2024-11-05'],
    ['2099-01-01', '2025-06-18'],
  ] as const)
    t.like(ask('initialize', { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'x', version: '1' } }), {
      protocolVersion: given,
      capabilities: { tools: {} },
      serverInfo: { name: 'quartz', version: '1' },
    });
  t.is(answer(server, '{"jsonrpc":"2.0","method":"notifications/initialized"}'), null);
  t.deepEqual(ask('ping'), {});
});

test('tools are listed with schemas, and called; what fails in one is a result', (t) => {
  t.like((ask('tools/list') as { tools: object[] }).tools[0], {
    name: 'echo',
    inputSchema: { type: 'object', properties: { word: { type: 'string', description: 'what' } }, required: ['word'] },
  });
  t.deepEqual(ask('tools/call', { name: 'echo', arguments: { word: 'yes' } }), {
    content: [{ type: 'text', text: 'yes!' }],
    isError: false,
  });
  t.like(ask('tools/call', { name: 'echo', arguments: { word: 'bad' } }), { isError: true });
});

for (const [line, code, message] of [
  ['{', -32700, /not JSON/],
  ['[]', -32600, /not an object/],
  ['{"id":1}', -32600, /no method/],
  ['{"id":1,"method":"resources/list"}', -32601, /no method "resources\/list"/],
  ['{"id":1,"method":"tools/call","params":{"name":"x"}}', -32602, /no tool "x"/],
  ['{"id":1,"method":"tools/call","params":{"name":"echo"}}', -32602, /word is missing/],
  ['{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"word":1}}}', -32602, /word is not a text/],
  ['{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"toString":"x"}}}', -32602, /no argument/],
] as const)
  test(`wrong: ${line}`, (t) => {
    const { error } = JSON.parse(answer(server, line)!) as { error: { code: number; message: string } };
    t.is(error.code, code);
    t.regex(error.message, message);
  });
