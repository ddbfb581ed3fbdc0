/** What the command line says to every benchmark. */
export const settings = {
  quick: false, // small sizes
  sources: new Map<string, string>(), // where the source of a whole program is, by the name of its Debian package
};
