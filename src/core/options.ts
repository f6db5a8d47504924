import { types } from "node:util";
import { z } from "zod";
import { asError, OptionsError } from "./errors.js";

type Exactly<Options extends object, Shape> = {
  readonly [Key in keyof Shape]: Key extends keyof Options ? Shape[Key] : never;
} & { readonly [Key in keyof Options]-?: z.ZodType<unknown, Options[Key]> };

/**
 * The schema of an options interface. It compiles only if each has the fields of the other, so that an option can neither
 * be forgotten by the check nor be missing where an editor shows it: `optionsOf<ChunkOptions>()({ maxTokens: … })`.
 */
export function optionsOf<Options extends object>() {
  return <Shape extends z.core.$ZodLooseShape>(shape: Shape & Exactly<Options, Shape>) => z.strictObject<Shape>(shape);
}

/** A function, as a field of options. */
export function functionOption<Given>() {
  return z.custom<Given>((value) => typeof value === "function", "must be a function");
}

/**
 * A list as a field of options. zod's own `readonly()` freezes what it finds, even where that is no list: an object of the
 * caller's, or a Buffer, which cannot be frozen and ends in a TypeError that names no option.
 */
export function listOption<Element extends z.ZodType>(list: z.ZodArray<Element>) {
  return list as z.ZodType<readonly z.output<Element>[], readonly z.input<Element>[]>;
}

type Observer = (...told: never[]) => unknown;

/**
 * An observer as a field of options: a function that is told about events and decides nothing. An error that it throws
 * or rejects with does not disturb the work: it becomes a warning of the process, once for each call that the function
 * was given to.
 */
export function observerOption<Given extends Observer>(name: string) {
  return functionOption<Given>().transform((tell) => observing(name, tell));
}

function observing<Given extends Observer>(name: string, tell: Given): Given {
  let hasFailed = false;
  const fail = (thrown: unknown) => {
    if (hasFailed) return;
    hasFailed = true;
    const { message } = asError(thrown);
    process.emitWarning(`${name} failed, and the work goes on without it: ${message}`, { code: "CITEWELL_OBSERVER" });
  };
  const observer = (...told: never[]): void => {
    try {
      const result = tell(...told);
      if (types.isPromise(result)) result.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  };
  return observer as Given;
}

const secrets = new WeakSet<object>();

/** Marks the schema of a key, a token or what holds one: no message shows a value of it, nor a text in the place of an object around it. */
export function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  secrets.add(schema);
  return schema;
}

/** A key or token as a request can carry it: one word. */
export function secretOption(minCharacters = 1) {
  const schema = z.string().superRefine((text, context) => {
    const refuse = (message: string) => context.addIssue({ code: "custom", message });
    // Files of mounted secrets usually end so, and no part of the secret may appear in a message.
    if (/[\r\n]$/.test(text)) refuse("ends in a line break, as secrets read from files do: cut it off with trimEnd()");
    else if (/\s/.test(text)) refuse("must hold no white space");
    else if (text.length < minCharacters) {
      refuse(minCharacters === 1 ? "must not be empty" : `must have at least ${minCharacters} characters`);
    }
  });
  return secret(schema);
}

/** Maximum mistakes that a message names: what comes over a network may hold any number. */
const maxProblems = 10;

/**
 * An option that narrows the visible documents, such as a filter. Leaving it out admits everything, so an explicit
 * `undefined`, probably a lost value, is refused and never taken for no filter.
 */
export function narrowingOption<Value>(schema: z.ZodType<Value, Value>) {
  const isGiven = (value: unknown) => value !== undefined;
  return z.exactOptional(
    z.custom<Value>(isGiven, "must have a value where it is named: leave it out to see everything").pipe(schema),
  );
}

/**
 * Options as the code reads them, defaults filled in. Unknown keys and bad values throw an `OptionsError` that names
 * the owner, the field, the value and what it may be; for an unknown key, the known one that was probably meant. Secrets and
 * the passwords of addresses are never shown.
 */
export function resolve<Schema extends z.ZodType>(
  owner: string,
  schema: Schema,
  given: z.input<Schema>,
): z.output<Schema> {
  // Code made for a schema pays after thousands of checks, and making it takes a millisecond. Most options are read once.
  const parsed = schema.safeParse(given, { jitless: true });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const misspelt = new Set(issues.filter(({ code }) => code === "unrecognized_keys").map(placeOf));
  const problems = issues.slice(0, maxProblems).flatMap((issue) => {
    const field = placeOf(issue);
    if (issue.code === "unrecognized_keys") {
      const shape = shapeAt(schema, issue.path);
      return issue.keys
        .slice(0, maxProblems)
        .map((key) => unknownOption(field === "" ? key : `${field}.${key}`, key, shape));
    }
    // The misspelt name may be the very option that the whole object lacks.
    if (issue.code === "custom" && misspelt.has(field)) return [];
    const value = issue.path.reduce<unknown>(
      (index, key) => (index as Record<PropertyKey, unknown> | undefined)?.[key],
      given,
    );
    const isObjectMissing = issue.code === "invalid_type" && issue.expected === "object";
    const wanted = isObjectMissing ? mustBeObject(shapeAt(schema, issue.path)) : issue.message;
    const problem = `${wanted} (got ${isSecretAt(schema, issue.path) ? kindOf(value) : preview(value)})`;
    return field === "" ? problem : `${field}: ${problem}`;
  });
  const first = issues[0]!;
  const [field] = first.code === "unrecognized_keys" && first.path.length === 0 ? first.keys : first.path;
  throw new OptionsError("options", problems.join("; "), {
    call: owner,
    ...(typeof field === "string" && { option: field }),
    cause: parsed.error,
  });
}

function placeOf({ path }: z.core.$ZodIssue): string {
  return path.map(String).join(".");
}

const formerNames = new WeakMap<Fields, ReadonlyMap<string, string>>();

/** Tells the error for a name that an option had before, or has in other libraries, what to write instead. */
export function renamed<Schema extends z.ZodObject>(schema: Schema, names: Readonly<Record<string, string>>): Schema {
  formerNames.set(schema.shape, new Map(Object.entries(names).map(([name, now]) => [plain(name), now])));
  return schema;
}

function unknownOption(place: string, key: string, shape: Fields): string {
  const known = Object.keys(shape);
  const name = key.includes(".") ? undefined : nearestName(key, known);
  const nearest = name === undefined ? placeWithin(key, shape) : JSON.stringify(name);
  const meant = formerNames.get(shape)?.get(plain(key)) ?? nearest;
  if (meant !== undefined) return `there is no option ${JSON.stringify(place)}; did you mean ${meant}?`;
  const all = known.length > 0 ? `; there are: ${known.join(", ")}` : "";
  return `there is no option ${JSON.stringify(place)}${all}`;
}

const namedByCaller = new WeakSet<z.ZodType>();

/** Marks the schema of an object whose names are the caller's own, so that a name which is no option may be meant as one of them. */
export function callersNames<Schema extends z.ZodType>(schema: Schema): Schema {
  namedByCaller.add(schema);
  return schema;
}

/**
 * The place of a name one level down, as it is written in code: in an option that has exactly this name (`answer: { tools: … }`),
 * or whose names are the caller's own. A name that was written as a path (`"metadata.tenant"`) says which option that is.
 */
function placeWithin(key: string, shape: Fields): string | undefined {
  const dot = key.indexOf(".");
  const [options, name] = dot < 0 ? [Object.keys(shape), key] : [[key.slice(0, dot)], key.slice(dot + 1)];
  const option = options.find((currentOption) => {
    const inner = Object.hasOwn(shape, currentOption) ? unwrapped(shape[currentOption]) : undefined;
    if (inner instanceof z.ZodObject) return Object.hasOwn(inner.shape, name);
    return inner instanceof z.ZodType && namedByCaller.has(inner);
  });
  return option && `${option}: { ${/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name)}: … }`;
}

function mustBeObject(shape: Fields): string {
  const names = Object.keys(shape);
  return `must be an object: { ${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""} }`;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of the object schema at a path; none where the path leads through anything but objects, records and lists. */
function shapeAt(schema: unknown, path: readonly PropertyKey[]): Fields {
  let current = unwrapped(schema);
  for (const key of path) {
    current = unwrapped(
      current instanceof z.ZodArray
        ? current.element
        : current instanceof z.ZodRecord
          ? current.valueType
          : current instanceof z.ZodObject
            ? current.shape[String(key)]
            : undefined,
    );
  }
  return current instanceof z.ZodObject ? current.shape : {};
}

/** The schema that says which fields there are, without what stands around it. */
function unwrapped(schema: unknown): unknown {
  let current = schema;
  for (let inner = within(current); inner !== undefined; inner = within(current)) current = inner;
  return current;
}

/** Inner schema of a wrapper; undefined for any other schema. */
function within(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return schema.out instanceof z.ZodTransform ? schema.in : schema.out;
  return schema instanceof z.ZodType && wrappers.has(schema.def.type) ? (schema as z.ZodOptional).unwrap() : undefined;
}

const wrappers: ReadonlySet<string> = new Set(["optional", "default", "prefault", "nullable", "readonly", "lazy"]);

/** Whether the value at a path is a secret, lies within one, or stands where an object would hold one. */
function isSecretAt(schema: unknown, path: readonly PropertyKey[]): boolean {
  let current = schema;
  for (const key of path) {
    if (isSecret(current)) return true;
    const holder = unwrapped(current);
    if (holder instanceof z.ZodArray) current = holder.element;
    else if (holder instanceof z.ZodRecord) current = holder.valueType;
    else current = holder instanceof z.ZodObject ? holder.shape[String(key)] : undefined;
  }
  return holdsSecret(current);
}

/** Whether the schema itself or one that it wraps is marked. */
function isSecret(schema: unknown): boolean {
  for (let current = schema; current !== undefined; current = within(current))
    if (secrets.has(current as object)) return true;
  return false;
}

function holdsSecret(schema: unknown): boolean {
  const holder = unwrapped(schema);
  if (isSecret(schema)) return true;
  if (holder instanceof z.ZodArray) return holdsSecret(holder.element);
  if (holder instanceof z.ZodRecord) return holdsSecret(holder.valueType);
  return holder instanceof z.ZodObject && Object.values(holder.shape).some(isSecret);
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return `a text of ${value.length} characters, not shown`;
  return value === null || value === undefined ? String(value) : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function preview(value: unknown): string {
  const text = withoutCredentials(typeof value === "string" ? JSON.stringify(value) : wordsFor(value));
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/**
 * A text in which the name and password of an address are not shown, whatever characters they hold, and however its scheme was
 * mistyped or left out; nor one that is given as a field, `password=…`.
 */
export function withoutCredentials(given: string): string {
  const text = given.replaceAll(/\b((?:password|passwd|pwd)\s*=\s*)[^\s&;,"']+/gi, "$1***");
  const end = text.lastIndexOf("@");
  const start = text.search(/:|\/\//);
  if (start < 0 || start > end) return text;
  const slashes = text.slice(0, end).indexOf("//");
  const shown = slashes < 0 ? (/^["']*/.exec(text)?.[0] ?? "") : text.slice(0, slashes + 2);
  return `${shown}***${text.slice(end)}`;
}

/**
 * An object by the names of its fields, since a value may be a secret; one without a prototype, or with a field named
 * `toString`, cannot be turned into text.
 */
function wordsFor(value: unknown): string {
  if (Object.prototype.toString.call(value) === "[object Object]") {
    const names = Object.keys(value as object);
    return names.length === 0 ? "{}" : `{ ${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""} }`;
  }
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** The scheme of an address, such as `s3`; undefined for a path. A single letter is a drive of Windows. */
export function schemeOf(place: string): string | undefined {
  return /^([a-z][a-z\d+.-]+):[/\\]+/i.exec(place)?.[1];
}

/**
 * Whether a path was meant as the address of a server: with quotes, white space or the name of a variable around it, with its
 * scheme damaged, or as the list of fields that drivers take. A folder or a message with that name would show the password.
 */
export function holdsAddress(place: string): boolean {
  return (
    /:\/\//.test(place) ||
    /^["'\s]*(jdbc:|postgres\w*\s*(:|\/\/).*@)/i.test(place) ||
    // A name and a password before an @: behind two slashes, or at the beginning, where a drive is followed by a slash.
    /(?:[/\\]{2}[^/\\]*|^[^/\\]*):[^/\\].*@/.test(place) ||
    /\b(?:password|passwd|pwd)\s*=/i.test(place)
  );
}

const counts = ["limit", "topN", "count"];
/** Our names for the options of other libraries. */
const otherNames = new Map([
  ["topk", counts],
  ["k", counts],
  ["n", counts],
  ["size", counts],
  ["content", ["text"]],
  ["query", ["question"]],
]);

/**
 * The known name that was probably meant: the same but for case and underscores, one that contains the other
 * (`abortSignal`, `signal`), what other libraries call it, or the one that the fewest typing errors lead to, at most one
 * in three letters.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  const other = otherNames.get(given)?.find((candidate) => known.includes(candidate));
  if (other !== undefined) return other;
  let nearest: string | undefined;
  let fewest = Math.floor(given.length / 3) + 0.5;
  for (const candidate of known) {
    const letters = plain(candidate);
    const isWithin =
      Math.min(letters.length, given.length) >= 4 && (letters.includes(given) || given.includes(letters));
    const typed = typingErrors(given, letters);
    // A name that contains the given one, or is contained in it, beats a misspelling. Among several, the one with the
    // fewest other letters wins.
    const errors = isWithin ? typed / 1000 : typed;
    if (errors >= fewest) continue;
    fewest = errors;
    nearest = candidate;
  }
  return nearest;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Letters to add, drop, replace or swap with their neighbour (Damerau and Levenshtein, each place touched once). */
function typingErrors(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      let errors = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        errors = Math.min(errors, before[j - 2]! + 1);
      }
      next.push(errors);
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}
