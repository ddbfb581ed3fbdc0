/**
 * The part of the Model Context Protocol (https://modelcontextprotocol.io, revision 2025-06-18, transport stdio) that a
 * server with tools needs: JSON-RPC 2.0, one message per line. Pure: maps a request line to a response line.
 */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments: an object whose values are strings. */
  arguments: Readonly<Record<string, { description: string; required: boolean }>>;
  /** Returns the result text; throws an error whose message is for the caller. */
  call: (args: Readonly<Record<string, string>>) => string;
}
export interface Server {
  name: string;
  version: string;
  instructions: string;
  tools: readonly Tool[];
}

const revisions = ['2025-06-18', '2025-03-26', '2024-11-05'];
/** Error codes of JSON-RPC 2.0, section 5.1. */
const codes = { parse: -32700, request: -32600, method: -32601, params: -32602 } as const;

class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The response to a message, without end of line; null for a notification, which has none. */
export function answer(server: Server, line: string): string | null {
  let id: unknown = null;
  try {
    const message = parsed(line);
    id = message['id'] ?? null;
    if (typeof message['method'] !== 'string') throw new RpcError(codes.request, 'the message has no method');
    if (!('id' in message)) return null;
    const params = isFields(message['params']) ? message['params'] : {};
    return JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(server, message['method'], params) });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code, message: error.message } });
  }
}

function parsed(line: string): Fields {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    throw new RpcError(codes.parse, 'the line is not JSON');
  }
  if (!isFields(message)) throw new RpcError(codes.request, 'the message is not an object');
  return message;
}

function resultOf(server: Server, method: string, params: Fields): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: revisions.find((one) => one === params['protocolVersion']) ?? revisions[0],
        capabilities: { tools: {} },
        serverInfo: { name: server.name, version: server.version },
        instructions: server.instructions,
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: server.tools.map(describe) };
    case 'tools/call':
      return callOf(server, params);
    default:
      throw new RpcError(codes.method, `there is no method "${method}"`);
  }
}

const describe = (tool: Tool): object => ({
  name: tool.name,
  description: tool.description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(tool.arguments).map(([name, { description }]) => [name, { type: 'string', description }]),
    ),
    required: Object.entries(tool.arguments).flatMap(([name, { required }]) => (required ? [name] : [])),
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
});

/** A failure of a tool is a result, which the caller can act on; an invalid call is an error of the protocol. */
function callOf(server: Server, params: Fields): object {
  const tool = server.tools.find(({ name }) => name === params['name']);
  if (tool === undefined) throw new RpcError(codes.params, `there is no tool "${String(params['name'])}"`);
  const given = isFields(params['arguments']) ? params['arguments'] : {};
  const args: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(tool.arguments, name))
      throw new RpcError(codes.params, `${tool.name} has no argument "${name}"`);
    if (typeof value !== 'string') throw new RpcError(codes.params, `${tool.name}: ${name} is not a text`);
    args[name] = value;
  }
  for (const [name, { required }] of Object.entries(tool.arguments))
    if (required && args[name] === undefined) throw new RpcError(codes.params, `${tool.name}: ${name} is missing`);
  try {
    return { content: [{ type: 'text', text: tool.call(args) }], isError: false };
  } catch (error) {
    return { content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }], isError: true };
  }
}
