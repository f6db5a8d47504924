import { documentSource, type DocumentSource } from "./source.js";

/** Several sources as one, read one after the other. */
export function allSources(sources: readonly DocumentSource[]): DocumentSource {
  return documentSource({
    id: sources.map(({ id }) => id).join(" "),
    read: async function* (context) {
      for (const source of sources) yield* source.read(context);
    },
    vanished: async (uri, from) => {
      for (const source of sources) if (await source.vanished(uri, from)) return true;
      return false;
    },
    ...(sources.every(({ files }) => files) && {
      files: {
        roots: sources.flatMap(({ files }) => files!.roots),
        only: (changed) => allSources(sources.map(({ files }) => files!.only(changed))),
      },
    }),
  });
}
