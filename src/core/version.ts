/**
 * Version of this package, as `package.json` has it, which no bundle carries along. Another version may read and cut
 * documents differently.
 */
export const version = "0.1.0";
