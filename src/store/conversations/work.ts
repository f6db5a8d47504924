/** A value of a column. */
export type Column = string | number | null;

/** An SQL statement. Its parameters are `$1`, `$2` …, in the order of the values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Column[];
}

/**
 * Work on the tables of conversations, written once for all databases: it yields a statement, and goes on with the rows that
 * it is given of it.
 */
export type Work<Result> = Generator<Statement, Result, readonly object[]>;

/** The rows of one statement. */
export function* rows<Row extends object>(text: string, ...values: readonly Column[]): Work<readonly Row[]> {
  return (yield { text, values }) as readonly Row[];
}

/** `$1, $2, $3`, from the parameter `first` on. */
export function parameters(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(", ");
}

/** Runs work on the rows of one scope. */
export interface ConversationRunner {
  readonly read: <Result>(work: () => Work<Result>) => Promise<Result>;
  /** Work in one transaction, which is alone among those with one of these keys, and committed when the promise resolves. */
  readonly change: <Result>(keys: readonly string[], work: () => Work<Result>) => Promise<Result>;
}

/** A condition that a column has the value of a parameter, in the words by which the database's indexes find it. */
export type ColumnEquals = (column: "scope" | "owner", parameter: string) => string;

/** A database with the tables of conversations. */
export interface ConversationDatabase {
  /** Location of the database, for messages. */
  readonly location: string;
  readonly of: (scope: string) => ConversationRunner;
  readonly equals: ColumnEquals;
  readonly close: () => void;
}
