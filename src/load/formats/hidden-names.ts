/** Whether a walk through a folder would pass the file over, too: its name, or that of a folder above it, starts with a dot. */
export function isHidden(path: string): boolean {
  return path.split("/").some((part) => part.startsWith(".") || part === "node_modules" || part === "__MACOSX");
}
