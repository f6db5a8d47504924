import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawPages } from "./browser-pictures.js";
import { flowDiagram } from "./flow-diagram.js";
import { documentSteps, questionSteps } from "./flows.js";
import { drawTerminal } from "./terminal-pictures.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = join(root, "site/pages/pictures");
mkdirSync(folder, { recursive: true });

writeFileSync(join(folder, "document.svg"), flowDiagram("The way of a document", documentSteps));
writeFileSync(join(folder, "question.svg"), flowDiagram("The way of a question", questionSteps));
writeFileSync(join(folder, "terminal.svg"), await drawTerminal(root));
await drawPages(root, folder);
