/** Addresses that the server may listen on: the loopback interface, or a Unix socket. Pure functions. */
export type Address = { host: string; port: number } | { path: string };

/**
 * Parses the value of --listen; null if it is not an address. Throws a RangeError for an address that other machines
 * could reach.
 */
export function addressOf(text: string): Address | null {
  if (text.startsWith('unix:')) return text.length > 5 ? { path: text.slice(5) } : null;
  if (text.includes('/')) return { path: text };
  const [, host = '127.0.0.1', digits = ''] = /^(?:(\[[^\]]*\]|[^:]*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return null;
  const name = host.replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost') return { host: '127.0.0.1', port };
  if (!isLoopback(name)) throw new RangeError(name);
  return { host: name, port };
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The address as a URL or path, for messages. */
export function written(address: Address): string {
  if ('path' in address) return `unix:${address.path}`;
  return `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}/`;
}
