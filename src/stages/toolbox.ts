import type { ToolDescription } from "../ports.js";
import { toolNames } from "../text/tool-names.js";
import type { AnyTool } from "../tool.js";
import type { Approve } from "./answer-options.js";

/** The tools of an answer, under the names that the service takes. */
export interface Toolbox {
  readonly size: number;
  /** What the model is told of. Without `approve`, tools that write are withheld while the context is untrusted. */
  readonly offered: (untrusted: boolean) => readonly ToolDescription[];
  /** The tool that a model calls by the service's name, or why it may not. */
  readonly find: (name: string, untrusted: boolean) => AnyTool | { readonly refusal: string };
  /** The service's name of a tool; other names as they are. */
  readonly nameFor: (own: string) => string;
  /** Names of the tools that are withheld while the context is untrusted. */
  readonly withheld: readonly string[];
}

export function toolbox(tools: readonly AnyTool[], approve: Approve | undefined): Toolbox {
  const named = toolNames(tools.map(({ name }) => name));
  const entries = [...named.keys()].map((name, index) => ({ name, tool: tools[index]! }));
  const barred = ({ writes }: AnyTool, untrusted: boolean) => writes && untrusted && approve === undefined;
  return {
    size: tools.length,
    offered: (untrusted) =>
      entries
        .filter(({ tool }) => !barred(tool, untrusted))
        .map(({ name, tool: { description, parameters } }) => ({ name, description, parameters })),
    find: (name, untrusted) => {
      const tool = entries.find((entry) => entry.name === name)?.tool;
      if (!tool) return { refusal: `There is no tool named ${JSON.stringify(name)}` };
      return barred(tool, untrusted)
        ? { refusal: `${tool.name} is withheld: it writes, and the conversation holds text from untrusted sources` }
        : tool;
    },
    nameFor: (own) => entries.find(({ tool }) => tool.name === own)?.name ?? own,
    withheld: tools.filter((tool) => barred(tool, true)).map(({ name }) => name),
  };
}
