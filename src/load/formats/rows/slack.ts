import type { Json } from "../../../core/types.js";
import type { Row } from "../row-mapping.js";

/** Subtypes of messages that only report who joined or left. */
const passedOver: ReadonlySet<Json | undefined> = new Set([
  "channel_join",
  "channel_leave",
  "group_join",
  "group_leave",
]);

/**
 * The threads of a file of a Slack export, which holds the messages of one channel and day: a row for each, named by its
 * first message, its text a line `Name: words` for each message. A thread that goes on for days is a row of each day, and
 * `thread` names it in all. `undefined` for anything but such a file.
 */
export function slackThreads(rows: readonly Row[], uri: string): Row[] | undefined {
  if (!rows.every(({ type, ts }) => type === "message" && typeof ts === "string" && /^\d+\.\d+$/.test(ts)))
    return undefined;
  const names = new Map(rows.map((row) => [asText(row["user"]), nameOf(row)]));
  const threads = new Map<string, Row[]>();
  for (const row of rows) {
    if (passedOver.has(row["subtype"]) || asText(row["text"]).trim() === "") continue;
    const thread = asText(row["thread_ts"]) || asText(row["ts"]);
    const messages = threads.get(thread);
    if (messages) messages.push(row);
    else threads.set(thread, [row]);
  }
  const channel = decoded(uri.split(/[/#]/).at(-2) ?? "");
  return [...threads].map(([thread, messages]) => {
    const people = [...new Set(messages.map(nameOf))];
    const lines = messages.map((row) => `${nameOf(row)}: ${plainWords(asText(row["text"]), names)}`);
    const [first] = messages as [Row, ...Row[]];
    const date = new Date(1000 * Number(first["ts"])).toISOString().replace(/\.\d+/, "");
    return { id: asText(first["ts"]), text: lines.join("\n"), channel, date, author: nameOf(first), people, thread };
  });
}

function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function nameOf({ user_profile: profile, user, username }: Row): string {
  const { real_name: real, display_name: shown } = (profile ?? {}) as Row;
  return asText(real) || asText(shown) || asText(username) || asText(user) || "unknown";
}

/** The words that Slack shows for its marks: names for people, labels for links. */
function plainWords(text: string, names: ReadonlyMap<string, string>): string {
  return text
    .replace(/<@(\w+)(?:\|([^<>]*))?>/g, (_, id: string, label?: string) => `@${names.get(id) ?? label ?? id}`)
    .replace(/<#\w+\|([^<>]*)>/g, "#$1")
    .replace(/<!(\w+)[^<>]*>/g, "@$1")
    .replace(/<([^<>|]+)\|([^<>]*)>/g, "$2 ($1)")
    .replace(/<([^<>|]+)>/g, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
