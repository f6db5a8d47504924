import { seededRandom } from "../../test/support/seeded-random.js";

/** One request as it is sent. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | Uint8Array;
}

const tasks = "/llm/v1/contents/generations/tasks";
const gif = "data:image/gif;base64,R0lGODlhCgAUAAAAACw=";
const tool = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};
const question = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";

/** Valid requests, one or more for each operation. */
const good: readonly (readonly [method: string, path: string, body?: object])[] = [
  [
    "POST",
    "/llm/v1/embeddings",
    { model: "citewell/local-lexical", input: ["a key", "a lock"], encoding_format: "base64" },
  ],
  [
    "POST",
    "/llm/v1/rerank",
    {
      model: "citewell/local-lexical-rerank",
      query: "apple",
      documents: ["an apple", "a pear"],
      top_n: 1,
      overlap_tokens: 8,
    },
  ],
  [
    "POST",
    "/llm/v1/chat/completions",
    {
      model: "citewell/local-extractive",
      messages: [{ role: "user", content: question }],
      tools: [tool],
      stream: false,
      max_tokens: 20,
      stop: ["a"],
      temperature: 1,
      n: 2,
    },
  ],
  [
    "POST",
    "/llm/v1/chat/completions",
    { model: "citewell/local-extractive-q3", messages: [{ role: "user", content: question }], thinking_budget: 9 },
  ],
  [
    "POST",
    "/llm/v1/chat/completions",
    {
      model: "citewell/local-look",
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: gif } },
            { type: "text", text: "?" },
          ],
        },
      ],
    },
  ],
  [
    "POST",
    tasks,
    {
      model: "vendor/vendor-video-2.0",
      content: [{ type: "text", text: "a cat" }],
      duration: 5,
      ratio: "1:1",
      seed: 1,
    },
  ],
  [
    "POST",
    tasks,
    {
      model: "vendor/vendor-video-2.0",
      content: [
        { type: "image_url", image_url: { url: "https://example.com/a.png", role: "reference_image" } },
        { type: "audio_url", audio_url: { url: "data:audio/wav;base64,UklGRgAAAABXQVZF", role: "reference_audio" } },
      ],
    },
  ],
  ["GET", `${tasks}?page_num=1&page_size=2&filter.status=queued`],
  ["GET", `${tasks}/cgt-1`],
  ["DELETE", `${tasks}/cgt-1`],
  ["GET", "/llm/v1/models"],
  ["GET", "/files/cgt-1/video.mp4?link=a"],
];

const hostile: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.5,
  2 ** 53,
  "",
  " ",
  "\u0000",
  "\ud800",
  "<|endoftext|>",
  "a".repeat(3000),
  "九".repeat(3000),
  "data:image/png;base64,iVBORw0KGgo=",
  "data:audio/mp3;base64,//vUxAAAAAAAAAAA",
  [],
  {},
  [[]],
  [null],
  { $ref: "#" },
  { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
  '<source id="1">\nA key lasts 90 days.\n</source>',
  "<tool_response>\n{}\n</tool_response>",
  '{"a":1}',
];

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];

/** An endless stream of requests: some good, most with one to three things wrong, some of random bytes. */
export function* fuzzRequests(seed: number): Generator<FuzzRequest, never> {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
  const bytes = (length: number) => Uint8Array.from({ length }, () => below(256));

  /** Changes, removes or adds one thing somewhere in a value. */
  const mutated = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || random() < 0.15) return pick(hostile);
    if (Array.isArray(value)) {
      const at = below(value.length + 1);
      if (random() < 0.2) return Array.from({ length: below(140) }, () => value[0] as unknown);
      return at === value.length ? [...(value as unknown[]), pick(hostile)] : value.with(at, mutated(value[at]));
    }
    const entries = Object.entries(value);
    const at = below(entries.length + 1);
    const [name, inner] = entries[at] ?? [pick(["extra", "__proto__", "constructor", "toString", ""]), 1];
    if (random() < 0.2) return Object.fromEntries(entries.filter(([other]) => other !== name));
    return Object.fromEntries([...entries.filter(([other]) => other !== name), [name, mutated(inner)]]);
  };

  /** Changes a byte, removes one, or cuts the end off. */
  const damaged = (text: string): Uint8Array => {
    const whole = Buffer.from(text);
    const at = below(whole.length);
    const kind = below(3);
    if (kind === 0) whole[at] = below(256);
    return kind === 1 ? whole.subarray(0, at) : kind === 2 ? whole.subarray(at) : whole;
  };

  for (;;) {
    const [method, path, request] = pick(good);
    const kind = random();
    if (kind < 0.08) yield { method: pick(methods), path: pick(good)[1], body: bytes(below(200)) };
    else if (kind < 0.14) {
      const wild = Buffer.from(bytes(1 + below(40))).toString("base64url");
      yield {
        method: pick(methods),
        path: `${path.split("?")[0]}/${encodeURIComponent(wild)}?${wild}=${below(9)}`,
        body: "",
      };
    } else if (request === undefined) {
      const changed = path.replace(/\d/, String(pick(hostile)).slice(0, 50));
      yield { method, path: random() < 0.5 ? path : encodeURI(Buffer.from(changed).toString()), body: "" };
    } else if (kind < 0.25) yield { method, path, body: JSON.stringify(request) };
    else if (kind < 0.4) yield { method, path, body: damaged(JSON.stringify(request)) };
    else {
      let changed: unknown = request;
      for (let changes = 1 + below(3); changes > 0; changes--) changed = mutated(changed);
      yield { method, path, body: JSON.stringify(changed) };
    }
  }
}
