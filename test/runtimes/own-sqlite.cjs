// Loaded before everything else in a Node of another version: better-sqlite3 is compiled for one version of V8, so the
// file that belongs to this Node is opened in its place. The other native packages serve every Node.
const { dlopen } = process;
process.dlopen = (module, path, ...flags) =>
  dlopen(module, path.endsWith("better_sqlite3.node") ? process.env.BETTER_SQLITE3_FILE : path, ...flags);
