import { bmpUrl, gifUrl, jpegUrl, mp3Url, pngUrl, tiffUrl, wavUrl, webpUrl } from "./video/media-samples.js";

/** Models of the service under test, one of each kind that a rule speaks of. */
export interface ConformanceModels {
  readonly embedding: string;
  /** Its id ends in `m3`. */
  readonly longEmbedding: string;
  readonly rerank: string;
  readonly llm: string;
  readonly q3: string;
  readonly d: string;
  readonly s: string;
  readonly vlm: string;
  readonly video: string;
}

export interface ConformanceCase {
  /** Heading of the specification that the rule stands under. */
  readonly section: string;
  readonly what: string;
  readonly operation: "embeddings" | "rerank" | "chat" | "createVideoTask";
  readonly body: object;
  /** The field that the refusal must name; undefined for a good request. */
  readonly refused?: string;
}

type Body = object;
type Listed = readonly [what: string, body: Body] | readonly [what: string, body: Body, refused: string];

const many = <Item>(count: number, item: Item): readonly Item[] => Array.from({ length: count }, () => item);

/** Every rule of the specification, at its bound and one past it. */
export function conformanceCases(models: ConformanceModels): readonly ConformanceCase[] {
  return [
    ...list("5. Create embedding request", "embeddings", embeddingCases(models)),
    ...list("4. Create rerank request", "rerank", rerankCases(models)),
    ...list("3. Create chat completion", "chat", chatCases(models)),
    ...list("3. Create chat completion, LLM-only fields", "chat", llmCases(models)),
    ...list("Chat message", "chat", messageCases(models)),
    ...list("Chat tool", "chat", toolCases(models)),
    ...list("1. Create video generation task", "createVideoTask", videoCases(models)),
    ...list("1. Create video generation task, content rules", "createVideoTask", contentCases(models)),
    ...list("Video content item, image requirements", "createVideoTask", imageCases(models)),
    ...list("Video content item, video requirements", "createVideoTask", videoItemCases(models)),
    ...list("Video content item, audio requirements", "createVideoTask", audioCases(models)),
  ];
}

function list(section: string, operation: ConformanceCase["operation"], listed: readonly Listed[]): ConformanceCase[] {
  return listed.map(([what, body, refused]) => ({
    section,
    operation,
    what,
    body,
    ...(refused !== undefined && { refused }),
  }));
}

function embeddingCases({ embedding }: ConformanceModels): readonly Listed[] {
  const request = (change: object) => ({ model: embedding, input: "text", ...change });
  return [
    ["one text", request({})],
    ["a list of texts", request({ input: ["a", "b"] })],
    ["float", request({ encoding_format: "float" })],
    ["base64", request({ encoding_format: "base64" })],
    ["no model", { input: "text" }, "model"],
    ["a model that is no string", request({ model: 7 }), "model"],
    ["an empty model", request({ model: "" }), "model"],
    ["no input", { model: embedding }, "input"],
    ["an empty text", request({ input: "" }), "input"],
    ["an empty text among others", request({ input: ["a", ""] }), "input"],
    ["no texts", request({ input: [] }), "input"],
    ["token ids", request({ input: [1, 2] }), "input"],
    ["input null", request({ input: null }), "input"],
    ["an unknown encoding", request({ encoding_format: "int8" }), "encoding_format"],
    ["an unknown field", request({ dimensions: 256 }), "dimensions"],
  ];
}

function rerankCases({ rerank }: ConformanceModels): readonly Listed[] {
  const request = (change: object) => ({ model: rerank, query: "apple", documents: ["an apple", "a pear"], ...change });
  return [
    ["query and documents", request({})],
    ["top_n of 1", request({ top_n: 1 })],
    ["top_n above the number of documents", request({ top_n: 99 })],
    ["an empty document", request({ documents: [""] })],
    ["documents returned", request({ return_documents: true })],
    ["80 overlap tokens", request({ overlap_tokens: 80 })],
    ["0 overlap tokens", request({ overlap_tokens: 0 })],
    ["one chunk a document", request({ max_chunks_per_doc: 1 })],
    ["no model", { query: "a", documents: ["a"] }, "model"],
    ["a model that is no string", request({ model: 7 }), "model"],
    ["no query", { model: rerank, documents: ["a"] }, "query"],
    ["an empty query", request({ query: "" }), "query"],
    ["a query that is no string", request({ query: ["a"] }), "query"],
    ["no list of documents", { model: rerank, query: "a" }, "documents"],
    ["no documents", request({ documents: [] }), "documents"],
    ["documents as one string", request({ documents: "a" }), "documents"],
    ["documents as objects", request({ documents: [{ text: "a" }] }), "documents"],
    ["top_n of 0", request({ top_n: 0 }), "top_n"],
    ["half a result", request({ top_n: 1.5 }), "top_n"],
    ["return_documents as a word", request({ return_documents: "yes" }), "return_documents"],
    ["no chunk a document", request({ max_chunks_per_doc: 0 }), "max_chunks_per_doc"],
    ["81 overlap tokens", request({ overlap_tokens: 81 }), "overlap_tokens"],
    ["-1 overlap tokens", request({ overlap_tokens: -1 }), "overlap_tokens"],
    ["an unknown field", request({ instruction: "a" }), "instruction"],
  ];
}

const message = { role: "user", content: "hello" };
const picture = { type: "image_url", image_url: { url: gifUrl(10, 20) } };

const chatWith = (model: string) => (change: object) => ({ model, messages: [message], stream: false, ...change });
const visionWith = (model: string) => (change: object) => ({
  model,
  messages: [{ role: "user", content: [picture] }],
  ...change,
});

function chatCases({ llm, vlm }: ConformanceModels): readonly Listed[] {
  const chat = chatWith(llm);
  const vision = visionWith(vlm);
  return [
    ["streamed", chat({ stream: true })],
    ["1 max_tokens", chat({ max_tokens: 1 })],
    ["16384 max_tokens", chat({ max_tokens: 16_384 })],
    ["4096 max_tokens of a VLM", vision({ max_tokens: 4096 })],
    ["1 stop sequence", chat({ stop: ["a"] })],
    ["4 stop sequences", chat({ stop: ["a", "b", "c", "d"] })],
    ["stop null", chat({ stop: null })],
    ["stop of a VLM", vision({ stop: ["a"] })],
    ["temperature 0", chat({ temperature: 0 })],
    ["temperature 2", chat({ temperature: 2 })],
    ["top_p 1", chat({ top_p: 1 })],
    ["top_k -1", chat({ top_k: -1 })],
    ["top_k 1", chat({ top_k: 1 })],
    ["top_k 100", chat({ top_k: 100 })],
    ["penalties of -2 and 2", chat({ frequency_penalty: -2, presence_penalty: 2 })],
    ["penalties of 2 and -2", chat({ frequency_penalty: 2, presence_penalty: -2 })],
    ["n of 1", chat({ n: 1 })],
    ["JSON", chat({ response_format: { type: "json_object" } })],
    ["plain text", chat({ response_format: { type: "text" } })],
    ["no model", { messages: [message] }, "model"],
    ["stream as a word", chat({ stream: "no" }), "stream"],
    ["0 max_tokens", chat({ max_tokens: 0 }), "max_tokens"],
    ["16385 max_tokens", chat({ max_tokens: 16_385 }), "max_tokens"],
    ["4097 max_tokens of a VLM", vision({ max_tokens: 4097 }), "max_tokens"],
    ["half a token", chat({ max_tokens: 1.5 }), "max_tokens"],
    ["5 stop sequences", chat({ stop: ["a", "b", "c", "d", "e"] }), "stop"],
    ["no stop sequence", chat({ stop: [] }), "stop"],
    ["an empty stop sequence", chat({ stop: [""] }), "stop"],
    ["stop as a string", chat({ stop: "a" }), "stop"],
    ["temperature below 0", chat({ temperature: -0.1 }), "temperature"],
    ["temperature above 2", chat({ temperature: 2.1 }), "temperature"],
    ["temperature as a string", chat({ temperature: "1" }), "temperature"],
    ["top_p of 0", chat({ top_p: 0 }), "top_p"],
    ["top_p above 1", chat({ top_p: 1.1 }), "top_p"],
    ["top_k of 0", chat({ top_k: 0 }), "top_k"],
    ["top_k of 101", chat({ top_k: 101 }), "top_k"],
    ["frequency_penalty above 2", chat({ frequency_penalty: 2.1 }), "frequency_penalty"],
    ["frequency_penalty below -2", chat({ frequency_penalty: -2.1 }), "frequency_penalty"],
    ["presence_penalty above 2", chat({ presence_penalty: 2.1 }), "presence_penalty"],
    ["n of 0", chat({ n: 0 }), "n"],
    ["half a result", chat({ n: 1.5 }), "n"],
    ["json_schema", chat({ response_format: { type: "json_schema" } }), "response_format"],
    ["an unknown field", chat({ logprobs: true }), "logprobs"],
  ];
}

function llmCases({ llm, q3, d, s, vlm }: ConformanceModels): readonly Listed[] {
  const vision = visionWith(vlm);
  const outsiders = [llm, d, s].map(chatWith);
  const only = (field: string, value: unknown, others: readonly ((change: object) => object)[]): readonly Listed[] =>
    [...others, vision].map((request, at) => [
      `${field} for a model that does not take it (${at + 1})`,
      request({ [field]: value }),
      field,
    ]);
  return [
    ["Q3 fields at their lower bounds", chatWith(q3)({ enable_thinking: true, thinking_budget: 1, min_p: 0 })],
    ["Q3 fields at their upper bounds", chatWith(q3)({ enable_thinking: false, thinking_budget: 32_768, min_p: 1 })],
    ["thinking budget of 0", chatWith(q3)({ thinking_budget: 0 }), "thinking_budget"],
    ["thinking budget of 32769", chatWith(q3)({ thinking_budget: 32_769 }), "thinking_budget"],
    ["min_p below 0", chatWith(q3)({ min_p: -0.01 }), "min_p"],
    ["min_p above 1", chatWith(q3)({ min_p: 1.01 }), "min_p"],
    ["enable_thinking as a word", chatWith(q3)({ enable_thinking: "yes" }), "enable_thinking"],
    ["thinking of D on", chatWith(d)({ thinking: { type: "enabled" } })],
    ["thinking of D off", chatWith(d)({ thinking: { type: "disabled" } })],
    ["thinking of an unknown type", chatWith(d)({ thinking: { type: "some" } }), "thinking"],
    ...["low", "medium", "high", "none"].map((effort): Listed => [
      `${effort} effort`,
      chatWith(llm)({ reasoning_effort: effort }),
    ]),
    ["an unknown effort", chatWith(llm)({ reasoning_effort: "max" }), "reasoning_effort"],
    ...only("enable_thinking", true, outsiders),
    ...only("thinking_budget", 100, outsiders),
    ...only("min_p", 0.1, outsiders),
    ...only("thinking", { type: "enabled" }, [llm, q3, s].map(chatWith)),
    ...only("reasoning_effort", "low", [q3, d, s].map(chatWith)),
  ];
}

function messageCases({ llm, vlm }: ConformanceModels): readonly Listed[] {
  const chat = (messages: unknown) => ({ model: llm, stream: false, messages });
  const vision = (content: unknown) => ({ model: vlm, messages: [{ role: "user", content }] });
  const image = (image_url: unknown) => vision([{ type: "image_url", image_url }]);
  return [
    ["1 message", chat([message])],
    ["10 messages", chat(many(10, message))],
    ["all three roles", chat(["system", "user", "assistant"].map((role) => ({ role, content: "a" })))],
    ["an image as data", vision([picture])],
    ["an image at an address", image({ url: "https://example.com/a.png" })],
    ["a detail", image({ url: "https://example.com/a.png", detail: "low" })],
    ["a text part without text", vision([picture, { type: "text" }])],
    ["no messages field", { model: llm }, "messages"],
    ["no message", chat([]), "messages"],
    ["11 messages", chat(many(11, message)), "messages"],
    ["the role tool for a VLM", { model: vlm, messages: [{ role: "tool", content: [picture] }] }, "messages.0.role"],
    ["the role tool", chat([{ role: "tool", content: "a" }]), "messages.0.role"],
    ["a message without content", chat([{ role: "user" }]), "messages.0.content"],
    ["content null", chat([{ role: "user", content: null }]), "messages.0.content"],
    ["a message without role", chat([{ content: "a" }]), "messages.0.role"],
    ["an unknown field", chat([{ ...message, name: "a" }]), "name"],
    ["parts for an LLM", chat([{ role: "user", content: [picture] }]), "messages.0.content"],
    ["a string for a VLM", vision("hello"), "messages.0.content"],
    ["no parts", vision([]), "messages.0.content"],
    ["a part of an unknown type", vision([{ type: "audio_url" }]), "messages.0.content"],
    ["an image without address", image({}), "messages.0.content"],
    ["an image in a file", image({ url: "file:///etc/passwd" }), "messages.0.content"],
    ["an unknown detail", image({ url: "https://example.com/a.png", detail: "huge" }), "messages.0.content"],
  ];
}

function toolCases({ llm, vlm }: ConformanceModels): readonly Listed[] {
  const tools = (...functions: readonly object[]) =>
    chatWith(llm)({ tools: functions.map((one) => ({ type: "function", function: one })) });
  const tool = { type: "function", function: { name: "f" } };
  return [
    ["a name alone", tools({ name: "f" })],
    ["every field", tools({ name: "f", description: "d", parameters: { type: "object" }, strict: true })],
    ["strict null", tools({ name: "f", strict: null })],
    ["a name of all that is allowed", tools({ name: "aZ09_-" })],
    ["a name of 64 letters", tools({ name: "f".repeat(64) })],
    ["no tool in the list", chatWith(llm)({ tools: [] })],
    ["128 tools", chatWith(llm)({ tools: many(128, tool) })],
    ["129 tools", chatWith(llm)({ tools: many(129, tool) }), "tools"],
    ["a name of 65 letters", tools({ name: "f".repeat(65) }), "tools.0.function.name"],
    ["an empty name", tools({ name: "" }), "tools.0.function.name"],
    ["a name with a dot", tools({ name: "a.b" }), "tools.0.function.name"],
    ["no name", tools({}), "tools.0.function.name"],
    ["parameters as a string", tools({ name: "f", parameters: "{}" }), "tools.0.function.parameters"],
    ["a description that is no string", tools({ name: "f", description: 1 }), "tools.0.function.description"],
    ["strict as a word", tools({ name: "f", strict: "yes" }), "tools.0.function.strict"],
    ["another type", chatWith(llm)({ tools: [{ ...tool, type: "web_search" }] }), "tools.0.type"],
    ["no function", chatWith(llm)({ tools: [{ type: "function" }] }), "tools.0.function"],
    ["tools for a VLM", visionWith(vlm)({ tools: [tool] }), "tools"],
  ];
}

const prompt = { type: "text", text: "a cat on a wall" };
const media = (type: "image_url" | "video_url" | "audio_url", url: string, role?: string) => ({
  type,
  [type]: { url, ...(role !== undefined && { role }) },
});
const frame = (role?: string) => media("image_url", "https://example.com/a.png", role);
const referenceImage = frame("reference_image");
const referenceVideo = media("video_url", "https://example.com/a.mp4", "reference_video");
const referenceAudio = media("audio_url", "https://example.com/a.mp3", "reference_audio");
const videoWith = (model: string) => (change: object) => ({ model, content: [prompt], ...change });

const videoFields = {
  return_last_frame: false,
  service_tier: "default",
  execution_expires_after: 172_800,
  generate_audio: true,
  resolution: "720p",
  camera_fixed: false,
  watermark: false,
};

function videoCases({ video }: ConformanceModels): readonly Listed[] {
  const request = videoWith(video);
  return [
    ["a text alone", request({})],
    ["a callback", request({ callback_url: "http://127.0.0.1:9/never" })],
    ["the last frame", request({ return_last_frame: true })],
    ["the default tier", request({ service_tier: "default" })],
    ["expiry after 3600 s", request({ execution_expires_after: 3600 })],
    ["expiry after 259200 s", request({ execution_expires_after: 259_200 })],
    ["silent", request({ generate_audio: false })],
    ["web search", request({ tools: [{ type: "web_search" }] })],
    ["an identifier of 64 characters", request({ safety_identifier: "a".repeat(64) })],
    ...["480p", "720p"].map((resolution): Listed => [resolution, request({ resolution })]),
    ...["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"].map((ratio): Listed => [ratio, request({ ratio })]),
    ...[-1, 4, 15].map((duration): Listed => [`${duration} seconds`, request({ duration })]),
    ...[-1, 0, 2 ** 32 - 1].map((seed): Listed => [`seed ${seed}`, request({ seed })]),
    ["a camera that is free", request({ camera_fixed: false })],
    ["a watermark", request({ watermark: true })],
    ["every field at its default", request({ ...videoFields, ratio: "adaptive", duration: 5, seed: -1 })],
    ["no model", { content: [prompt] }, "model"],
    ["a model that is no string", request({ model: 7 }), "model"],
    ["a callback that is no string", request({ callback_url: 7 }), "callback_url"],
    ["an identifier that is no string", request({ safety_identifier: 7 }), "safety_identifier"],
    ["a duration as a string", request({ duration: "5" }), "duration"],
    ["a seed as a string", request({ seed: "5" }), "seed"],
    ["expiry as a string", request({ execution_expires_after: "3600" }), "execution_expires_after"],
    ["camera_fixed as a word", request({ camera_fixed: "no" }), "camera_fixed"],
    ["tools that are no list", request({ tools: { type: "web_search" } }), "tools"],
    ["no content", { model: video }, "content"],
    ["empty content", request({ content: [] }), "content"],
    ["content as a string", request({ content: "a cat" }), "content"],
    ["a callback to a file", request({ callback_url: "file:///etc/hook" }), "callback_url"],
    ["return_last_frame as a word", request({ return_last_frame: "yes" }), "return_last_frame"],
    ["the flex tier, which the model lacks", request({ service_tier: "flex" }), "service_tier"],
    ["an unknown tier", request({ service_tier: "fast" }), "service_tier"],
    ["expiry after 3599 s", request({ execution_expires_after: 3599 }), "execution_expires_after"],
    ["expiry after 259201 s", request({ execution_expires_after: 259_201 }), "execution_expires_after"],
    ["generate_audio as a number", request({ generate_audio: 1 }), "generate_audio"],
    ["another tool", request({ tools: [{ type: "function" }] }), "tools.0.type"],
    ["an identifier of 65 characters", request({ safety_identifier: "a".repeat(65) }), "safety_identifier"],
    ["1080p, which the model lacks", request({ resolution: "1080p" }), "resolution"],
    ["an unknown resolution", request({ resolution: "360p" }), "resolution"],
    ["an unknown ratio", request({ ratio: "2:1" }), "ratio"],
    ...[-2, 0, 3, 16, 4.5].map((duration): Listed => [`${duration} seconds`, request({ duration }), "duration"]),
    ["frames, which the model lacks", request({ frames: 29 }), "frames"],
    ...[-2, 2 ** 32, 0.5].map((seed): Listed => [`seed ${seed}`, request({ seed }), "seed"]),
    ["a fixed camera, which the model lacks", request({ camera_fixed: true }), "camera_fixed"],
    ["watermark as a word", request({ watermark: "no" }), "watermark"],
    ["an unknown field", request({ priority: 1 }), "priority"],
  ];
}

function contentCases({ video }: ConformanceModels): readonly Listed[] {
  const request = (...content: readonly object[]) => ({ model: video, content });
  const first = frame("first_frame");
  const last = frame("last_frame");
  return [
    ["a first frame", request(first)],
    ["a first frame without a role", request(frame())],
    ["a first frame with a text", request(prompt, first)],
    ["first and last frame", request(first, last)],
    ["first and last frame with a text", request(prompt, first, last)],
    ["a reference image", request(referenceImage)],
    ["9 reference images with a text", request(prompt, ...many(9, referenceImage))],
    ["3 reference videos", request(...many(3, referenceVideo))],
    ["images and audio", request(referenceImage, referenceAudio)],
    ["videos and audio", request(referenceVideo, referenceAudio)],
    ["images and videos", request(referenceImage, referenceVideo)],
    ["images, videos and 3 clips", request(prompt, referenceImage, referenceVideo, ...many(3, referenceAudio))],
    ["a role beside the image", request({ ...frame(), role: "reference_image" })],
    ["an empty text alone", request({ type: "text", text: " " }), "content"],
    ["a text item without text", request({ type: "text" }), "content.0.text"],
    ["an item of an unknown type", request({ type: "draft_task" }), "content.0.type"],
    ["two first frames", request(first, first), "content"],
    ["two last frames", request(first, last, last), "content"],
    ["a last frame alone", request(last), "content"],
    ["a first frame and a reference image", request(first, referenceImage), "content"],
    ["a first frame and a reference video", request(first, referenceVideo), "content"],
    ["first and last frame and a clip", request(first, last, referenceAudio), "content"],
    ["two images without roles", request(frame(), frame()), "content.0.image_url.role"],
    ["10 reference images", request(...many(10, referenceImage)), "content"],
    ["4 reference videos", request(...many(4, referenceVideo)), "content"],
    ["4 clips", request(referenceImage, ...many(4, referenceAudio)), "content"],
    ["audio alone", request(referenceAudio), "content"],
    ["audio with a text alone", request(prompt, referenceAudio), "content"],
    ["two roles that differ", request({ ...first, role: "last_frame" }), "content.0.role"],
  ];
}

function imageCases({ video }: ConformanceModels): readonly Listed[] {
  const request = (url: string) => ({ model: video, content: [media("image_url", url, "first_frame")] });
  const where = "content.0.image_url.url";
  const thirtyMegabytes = 30 * 1024 * 1024;
  return [
    ...[pngUrl, gifUrl, bmpUrl, webpUrl, jpegUrl, tiffUrl].map((make): Listed => [
      `${/\/(\w+)/.exec(make(400, 500))?.[1]}`,
      request(make(400, 500)),
    ]),
    ["a big-endian tiff", request(tiffUrl(400, 500, "MM"))],
    ["an asset", request("asset://asset-1")],
    ["301 pixels wide", request(pngUrl(301, 301))],
    ["5999 pixels wide", request(pngUrl(5999, 5999))],
    ["just above 0.4", request(pngUrl(401, 1000))],
    ["just below 2.5", request(pngUrl(2499, 1000))],
    ["a byte below 30 MB", request(pngUrl(400, 400, thirtyMegabytes - 1))],
    ["300 pixels wide", request(pngUrl(300, 400)), where],
    ["300 pixels high", request(pngUrl(400, 300)), where],
    ["6000 pixels wide", request(pngUrl(6000, 5000)), where],
    ["6000 pixels high", request(pngUrl(5000, 6000)), where],
    ["exactly 0.4", request(pngUrl(400, 1000)), where],
    ["exactly 2.5", request(pngUrl(1000, 400)), where],
    ["30 MB", request(pngUrl(400, 400, thirtyMegabytes)), where],
    ["a format in capitals", request(pngUrl(400, 400).replace("png", "PNG")), where],
    ["another format", request("data:image/svg+xml;base64,AAAA"), where],
    ["data of no format", request("data:image/png;base64,AAAA"), where],
    ["no data", request("data:image/png;base64,"), where],
    ["an address of another scheme", request("ftp://example.com/a.png"), where],
    ["an asset without id", request("asset://"), where],
    [
      "an unknown role",
      { model: video, content: [media("image_url", pngUrl(400, 400), "middle_frame")] },
      "content.0.image_url.role",
    ],
  ];
}

function videoItemCases({ video }: ConformanceModels): readonly Listed[] {
  const request = (url: string, role = "reference_video") => ({
    model: video,
    content: [media("video_url", url, role)],
  });
  return [
    ["an address", request("https://example.com/a.mp4")],
    ["an asset", request("asset://asset-1")],
    ["data, which only images and audio may be", request("data:video/mp4;base64,AAAA"), "content.0.video_url.url"],
    ["another role", request("https://example.com/a.mp4", "first_frame"), "content.0.video_url.role"],
    ["no address", { model: video, content: [{ type: "video_url", video_url: {} }] }, "content.0.video_url.url"],
  ];
}

function audioCases({ video }: ConformanceModels): readonly Listed[] {
  const request = (...urls: readonly string[]) => ({
    model: video,
    content: [referenceImage, ...urls.map((url) => media("audio_url", url, "reference_audio"))],
  });
  const where = "content.1.audio_url.url";
  const fifteenMegabytes = 15 * 1024 * 1024;
  return [
    ["wav of 2 s", request(wavUrl(2))],
    ["wav of 15 s", request(wavUrl(15))],
    ["mp3", request(mp3Url(3))],
    ["an asset", request("asset://asset-1")],
    ["three clips of 15 s together", request(wavUrl(5), wavUrl(5), mp3Url(5))],
    ["15 MB", request(wavUrl(5, fifteenMegabytes))],
    ["wav of 1.8 s", request(wavUrl(1.8)), where],
    ["wav of 15.2 s", request(wavUrl(15.2)), where],
    ["mp3 of 1.5 s", request(mp3Url(1.5)), where],
    ["two clips of 16 s together", request(wavUrl(8), wavUrl(8)), "content"],
    ["15 MB and a byte", request(wavUrl(5, fifteenMegabytes + 1)), where],
    ["a format in capitals", request(wavUrl(3).replace("wav", "WAV")), where],
    ["another format", request("data:audio/ogg;base64,AAAA"), where],
    ["data of no format", request("data:audio/wav;base64,AAAA"), where],
  ];
}
