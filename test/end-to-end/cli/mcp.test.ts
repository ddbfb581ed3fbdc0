/** quartz mcp, as an agent talks to it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import test from 'ava';
import { command, directory, program, quartz } from '../../support/run-quartz.js';

const home = directory();
const profile = join(home, 'prog.quartz');

test.before(async (t) => {
  const { status, stderr } = await quartz(['record', '-o', profile, '--', program('serial_then_parallel')], {
    env: { QUARTZ_PROCESSORS: '4' },
  });
  t.is(status, 0, stderr);
});

interface Reply {
  id: number;
  result: { content: { text: string }[]; isError: boolean; tools: { name: string }[] };
}
/** Sends all, closes stdin, and returns the replies. */
function talk(messages: readonly object[]): Reply[] {
  const input = messages.map((one, id) => `${JSON.stringify({ jsonrpc: '2.0', id, ...one })}\n`).join('');
  const { status, stdout, stderr } = spawnSync(command, ['mcp'], {
    input,
    cwd: home,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0 || stderr !== '') throw new Error(`status ${String(status)}: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Reply);
}
const call = (name: string, args: object): object => ({ method: 'tools/call', params: { name, arguments: args } });

test('findings, an entity, places, a comparison; and what is said of bad questions', (t) => {
  const [first, tools, findings, entity, source, compared, gone, nobody, nowhere] = talk([
    { method: 'initialize', params: { protocolVersion: '2025-06-18' } },
    { method: 'tools/list' },
    call('findings', {}),
    call('entity', { name: 'a' }),
    call('source', { path: 'serial_then_parallel' }),
    call('compare', { before: profile, after: profile }),
    call('findings', { file: 'gone.quartz' }),
    call('entity', { name: 'nobody' }),
    call('source', { path: 'nowhere.c' }),
  ]) as [Reply, Reply, Reply, Reply, Reply, Reply, Reply, Reply, Reply];
  t.is(first.id, 0);
  t.deepEqual(
    tools.result.tools.map(({ name }) => name),
    ['findings', 'entity', 'source', 'compare'],
  );
  const text = ({ result }: Reply): string => result.content[0]!.text;
  t.like(JSON.parse(text(findings)), { schema: 'quartz-brief-1', processors: 4 });
  const a = JSON.parse(text(entity)) as { nptNs: number; nptByBusyProcessorsNs: number[]; line: number };
  t.true(a.nptNs > 0 && a.line > 0);
  t.is(a.nptByBusyProcessorsNs.length, 4);
  t.true((JSON.parse(text(source)) as { places: object[] }).places.length > 0);
  t.regex(text(compared), /^## What changed/);
  for (const reply of [gone, nobody, nowhere]) t.true(reply.result.isError);
  t.regex(text(gone), /gone\.quartz does not exist; name a profile/);
  t.regex(text(nobody), /nothing in this profile is called "nobody"/);
  t.regex(text(nowhere), /^nothing that ran is in a file with "nowhere\.c" in its path; leave path out/);
});

test("the protocol's own client connects, lists the tools and calls them", async (t) => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command, args: ['mcp'], cwd: home }));
  try {
    t.is(client.getServerVersion()?.name, 'quartz');
    const { tools } = await client.listTools();
    t.deepEqual(
      tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
      ['findings', 'entity', 'source', 'compare'].map((name) => [name, true]),
    );
    const said = async (name: string, args: Record<string, string>): Promise<[boolean, string]> => {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [first] = content;
      if (first?.type !== 'text') throw new Error(`${name} answers ${JSON.stringify(content)}`);
      return [isError === true, first.text];
    };
    const [failed, findings] = await said('findings', {});
    t.false(failed);
    t.true(Buffer.byteLength(findings) <= 8192);
    t.is((JSON.parse(findings) as { schema: string }).schema, 'quartz-brief-1');
    t.deepEqual(await said('entity', { name: 'nobody' }), [
      true,
      talk([call('entity', { name: 'nobody' })])[0]!.result.content[0]!.text,
    ]);
    await t.throwsAsync(client.callTool({ name: 'nothing', arguments: {} }), { message: /there is no tool "nothing"/ });
  } finally {
    await client.close();
  }
});
