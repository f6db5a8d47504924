/** A cassette was asked for what is not on it. Asking again would bring the same. */
export class UnrecordedRequest extends Error {}
