import { join } from "node:path";
import { openEmbeddedStore } from "../../src/store/open-embedded-store.js";
import { conformance } from "./conformance.js";
import { temporaryFolder } from "./temporary-folder.js";

const folders = new Map<string, string>();

for (const index of ["flat", "hnsw"] as const) {
  conformance(`the embedded store (${index})`, {
    open: (name) => {
      const folder = folders.get(name) ?? temporaryFolder();
      folders.set(name, folder);
      return openEmbeddedStore(join(folder, "store"), { space: "made" }, { index });
    },
  });
}
