// A store of your own: any object with the methods of the `Store` port. This one keeps everything in Chroma, which knows nothing of SQL
// and has no transactions, and lets it search by vector. Documents are mirrored in memory, where a store of this package's filters them
// and searches by words, so it is for collections that fit there. It passes every case of citewell/store-conformance.
import { createHash, randomUUID } from "node:crypto";
import type { Filter, Found, Searchable, Store, StoreWrite } from "citewell";
import { vectorKey } from "citewell";
import { emptyContents, memoryStore, type MemoryStoreContents } from "citewell/store-conformance";

/** Vectors or records in one request; Chroma takes some 5,000. */
const batch = 1000;

/** Opens the store `name` in a Chroma server at `url`, or creates it. Any number of processes read and write. */
export async function openChromaStore<const Space extends string>(
  url: string,
  name: string,
  space: Space,
  requireScope = false,
): Promise<Store<Space>> {
  const vectors = await collection(url, `${name}-vectors`);
  // Chroma wants a vector for each record, and gets one of a single number for those that have none.
  const records = await collection(url, `${name}-records`);
  const writer = `stamp ${randomUUID()}`;
  let contents = emptyContents();
  /** Last write of every writer at the time `contents` was read. */
  let seen = "";
  let isClosed = false;
  let writes: Promise<unknown> = Promise.resolve();
  const dimension = () => contents.vectors.values().next().value?.length;
  const model = (of: MemoryStoreContents) => memoryStore(space, { contents: of, requireScope });

  const stamps = async () => JSON.stringify(await records.where({ kind: "stamp" }));
  const refresh = async () => {
    for (let now = await stamps(); now !== seen; now = await stamps()) {
      const all = await records.where({ kind: { $ne: "stamp" } });
      contents = contentsOf(all, await vectors.all());
      // Read again if somebody wrote meanwhile.
      seen = now;
    }
  };
  const current = async (): Promise<Store<Space>> => {
    if (!isClosed) await refresh();
    const store = model(contents);
    if (isClosed) await store.close();
    return store;
  };
  /** Chroma writes the records of one request together or not at all, so a write is one request behind its vectors. */
  const change = <Result>(
    work: (store: Store<Space>) => Promise<Result>,
    write: StoreWrite,
    uris: readonly string[],
  ) => {
    const changed = writes.then(async () => {
      const before = isClosed ? contents : (await refresh(), contents);
      const after = {
        ...before,
        documents: new Map(before.documents),
        vectors: new Map(before.vectors),
        notes: new Map(before.notes),
      };
      const store = model(after);
      if (isClosed) await store.close();
      const result = await work(store);
      await vectors.add([...(write.vectors ?? [])]);
      const touched = new Set([
        ...uris,
        ...(write.documents ?? []).map(({ document }) => document.uri),
        ...(write.notes?.keys() ?? []),
      ]);
      const stamp = randomUUID();
      await records.upsert([
        ...[...touched].map((uri) => ({
          id: hash(uri),
          kind: "uri",
          json: [uri, after.documents.get(uri), after.notes.get(uri)],
        })),
        ...(write.settings ? [{ id: "settings", kind: "settings", json: after.settings }] : []),
        ...(write.tokenMargin === undefined ? [] : [{ id: "margin", kind: "margin", json: after.tokenMargin }]),
        { id: writer, kind: "stamp", json: stamp },
      ]);
      return result;
    });
    writes = changed.catch(() => {});
    return changed;
  };

  const view = (scope?: Filter): Searchable<Space> => {
    const at = async () => (scope === undefined ? await current() : (await current()).scoped(scope));
    return {
      space,
      location: `${url} ${name}`,
      get dimension() {
        return dimension();
      },
      dense: {
        name: "dense",
        retrieve: async (query, call) => {
          const store = await at();
          // A store with one vector and no documents refuses the same calls.
          const bare = model({ ...emptyContents(), vectors: new Map([...contents.vectors].slice(0, 1)) });
          if (isClosed) await bare.close();
          await (scope === undefined ? bare : bare.scoped(scope)).dense.retrieve(query, call);
          const { count, filter, signal } = call;
          const admitted = filter === undefined ? store : store.scoped(filter);
          const chunksOf = new Map<string, string[]>();
          for (const { uri } of await admitted.documents()) {
            for (const chunk of contents.documents.get(uri)?.chunks ?? []) {
              const key = vectorKey(chunk);
              chunksOf.set(key, [...(chunksOf.get(key) ?? []), chunk.id]);
            }
          }
          const nearest = await vectors.nearest(query.vector!, [...chunksOf.keys()], count);
          signal?.throwIfAborted();
          return nearest
            .flatMap(([key, score]) => chunksOf.get(key)!.map((chunkId) => ({ chunkId, score })))
            .slice(0, count)
            .map((found, index): Found => ({
              ...found,
              placements: [{ by: "dense", rank: index + 1, score: found.score }],
            }));
        },
      },
      lexical: { name: "lexical", retrieve: async (query, call) => (await at()).lexical.retrieve(query, call) },
      document: async (uri, call) => (await at()).document(uri, call),
      documentInfo: async (uri) => (await at()).documentInfo(uri),
      documents: async (wanted) => (await at()).documents(wanted),
      hits: async (found, call) => (await at()).hits(found, call),
      scoped: (filter) => {
        model(contents).scoped(filter);
        return view(scope === undefined ? filter : { all: [scope, filter] });
      },
    };
  };

  await refresh();
  const store: Store<Space> = {
    ...view(),
    write: (write) => change((after) => after.write(write), write, []),
    deleteDocuments: (uris) => change((after) => after.deleteDocuments(uris), {}, uris),
    knownVectors: async (keys) => (await current()).knownVectors(keys),
    notes: async (uris) => (await current()).notes!(uris),
    documentWithChunks: async (uri) => (await current()).documentWithChunks!(uri),
    counts: async () => (await current()).counts(),
    verify: async (options) => (await current()).verify(options),
    close: async (options) => {
      await model(emptyContents()).close(options);
      await writes;
      isClosed = true;
    },
  };
  return Object.defineProperties(store, {
    dimension: { get: dimension },
    settings: { get: () => contents.settings },
    tokenMargin: { get: () => contents.tokenMargin },
  });
}

interface StoredRecord {
  readonly id: string;
  readonly kind: string;
  /** Kept as JSON, which has an escape for what UTF-8 cannot express. */
  readonly json: unknown;
}

function contentsOf(records: readonly StoredRecord[], vectors: Map<string, Float32Array>): MemoryStoreContents {
  const contents = { ...emptyContents(), vectors };
  for (const { kind, json } of records) {
    if (kind === "settings") contents.settings = json as MemoryStoreContents["settings"];
    if (kind === "margin") contents.tokenMargin = json as number;
    if (kind !== "uri") continue;
    const [uri, document, note] = json as [string, Parameters<typeof contents.documents.set>[1] | null, string | null];
    if (document) contents.documents.set(uri, document);
    if (note !== null) contents.notes.set(uri, note);
  }
  return contents;
}

/** The calls of a collection that the store needs: https://docs.trychroma.com/reference/server */
async function collection(url: string, name: string) {
  const base = `${url}/api/v2/tenants/default_tenant/databases/default_database/collections`;
  const post = async <Reply>(path: string, body: object): Promise<Reply> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${base}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`Chroma answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Reply;
  };
  const configuration = { hnsw: { space: "cosine", ef_search: 500 } };
  const { id } = await post<{ id: string }>("", { name, get_or_create: true, configuration });
  return {
    /** Adds vectors by key, those that are not there yet. */
    add: async (added: readonly (readonly [string, Float32Array])[]) => {
      for (let at = 0; at < added.length; at += batch) {
        const some = added.slice(at, at + batch);
        const embeddings = some.map(([, vector]) => Array.from(vector));
        // Chroma rounds the numbers that it searches; here they stand bit by bit.
        const metadatas = some.map(([, vector]) => ({
          bits: Buffer.from(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)).toString("base64"),
        }));
        await post(`/${id}/add`, { ids: some.map(([key]) => key), embeddings, metadatas });
      }
    },
    upsert: (some: readonly StoredRecord[]) =>
      post(`/${id}/upsert`, {
        ids: some.map((record) => record.id),
        embeddings: some.map(() => [1]),
        metadatas: some.map(({ kind, json }) => ({ kind, json: JSON.stringify(json) })),
      }),
    where: async (where: object): Promise<StoredRecord[]> => {
      const found: StoredRecord[] = [];
      for (let size = batch; size === batch;) {
        const page = await post<{ ids: string[]; metadatas: { kind: string; json: string }[] }>(`/${id}/get`, {
          where,
          include: ["metadatas"],
          limit: batch,
          offset: found.length,
        });
        size = page.ids.length;
        found.push(
          ...page.metadatas.map(({ kind, json }, at) => ({
            id: page.ids[at]!,
            kind,
            json: JSON.parse(json) as unknown,
          })),
        );
      }
      return found;
    },
    all: async (): Promise<Map<string, Float32Array>> => {
      const found = new Map<string, Float32Array>();
      for (let size = batch; size === batch;) {
        const asked = { include: ["metadatas"], limit: batch, offset: found.size };
        const { ids, metadatas } = await post<{ ids: string[]; metadatas: { bits: string }[] }>(`/${id}/get`, asked);
        size = ids.length;
        for (const [at, key] of ids.entries()) {
          const bytes = new Uint8Array(Buffer.from(metadatas[at]!.bits, "base64"));
          found.set(key, new Float32Array(bytes.buffer));
        }
      }
      return found;
    },
    /** The nearest of these keys with the cosine, best first. */
    nearest: async (vector: Float32Array, keys: readonly string[], count: number): Promise<[string, number][]> => {
      if (keys.length === 0) return [];
      const asked = { query_embeddings: [Array.from(vector)], n_results: count, ids: keys, include: ["distances"] };
      const { ids, distances } = await post<{ ids: string[][]; distances: number[][] }>(`/${id}/query`, asked);
      return ids[0]!.map((key, at) => [key, 1 - distances[0]![at]!]);
    },
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("hex");
}
