/** The command line's settings for every benchmark. */
export const settings = {
  quick: false, // small sizes
  sources: new Map<string, string>(), // the source directory of a whole program, by the name of its Debian package
};
