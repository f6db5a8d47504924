import { z } from "zod";
import { OptionsError, asError } from "../../../core/errors.js";
import { isTooDeep, maxDepth } from "../../../core/json.js";
import type { ToolDescription } from "../../../core/ports.js";
import type { AnyTool } from "../../../core/tool.js";
import type { ExtraContent } from "../../../core/types.js";
import { toolNames } from "../../../text/prompt/tool-messages.js";
import type { Approve } from "../answer-options.js";

/** A tool call as the model wrote it. `arguments` is its JSON text. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly extraContent?: ExtraContent;
}

/** A checked call: the tool to run, or the refusal to tell the model instead. */
export type CheckedCall = ModelCall & {
  /** The tool's own name, or the model's word if there is no such tool. */
  readonly name: string;
  /** The input that the schema returned, or else the model's own arguments. */
  readonly input: unknown;
} & ({ readonly tool: AnyTool } | { readonly refusal: string });

/** The tools of an answer, under names that the service accepts. */
export interface Toolbox {
  readonly size: number;
  /** The tools to describe to the model. */
  readonly offered: readonly ToolDescription[];
  /** Names of the tools that write: without `approve` they are neither offered nor run. */
  readonly withheld: readonly string[];
  /** The service's name of a tool; unknown names stay as they are. */
  readonly nameFor: (own: string) => string;
  /** Checks a call against the tools on offer and the tool's schema. */
  readonly check: (call: ModelCall) => Promise<CheckedCall>;
}

/**
 * @throws OptionsError for a tool that cannot be described to a model, such as one of an MCP server with an endless
 * schema.
 */
function refuseDeep(tools: readonly AnyTool[]): void {
  const deep = tools.find(({ parameters }) => isTooDeep(parameters));
  if (!deep) return;
  const problem = `the parameters of ${deep.name} nest deeper than ${maxDepth} levels, or hold themselves`;
  throw new OptionsError("options", `tools: ${problem}. Write a flatter schema, or leave the tool out`);
}

export function toolbox(tools: readonly AnyTool[], approve: Approve | undefined): Toolbox {
  refuseDeep(tools);
  const named = toolNames(tools.map(({ name }) => name));
  const entries = [...named.keys()].map((name, index) => ({ name, tool: tools[index]! }));
  const isWithheld = ({ writes }: AnyTool) => writes && approve === undefined;
  const find = (name: string): AnyTool | { readonly refusal: string } => {
    const tool = entries.find((entry) => entry.name === name)?.tool;
    if (!tool) return { refusal: `There is no tool named ${JSON.stringify(name)}` };
    return isWithheld(tool)
      ? { refusal: `${tool.name} is withheld and was not run: it writes, and nobody is there to approve the call` }
      : tool;
  };
  return {
    size: tools.length,
    offered: entries
      .filter(({ tool }) => !isWithheld(tool))
      .map(({ name, tool: { description, parameters } }) => ({ name, description, parameters })),
    withheld: tools.filter(isWithheld).map(({ name }) => name),
    nameFor: (own) => entries.find(({ tool }) => tool.name === own)?.name ?? own,
    check: async (call) => {
      const found = find(call.name);
      const name = "refusal" in found ? call.name : found.name;
      let input: unknown;
      try {
        input = JSON.parse(call.arguments.trim() === "" ? "{}" : call.arguments);
      } catch (error) {
        const invalid = `The arguments are not valid JSON: ${asError(error).message}`;
        return { ...call, name, input: call.arguments, refusal: "refusal" in found ? found.refusal : invalid };
      }
      if ("refusal" in found) return { ...call, input, refusal: found.refusal };
      const checked = await z.safeParseAsync(found.input, input);
      if (checked.success) return { ...call, name, input: checked.data, tool: found };
      const refusal = `The arguments do not fit the tool's schema:\n${z.prettifyError(checked.error)}`;
      return { ...call, name, input, refusal };
    },
  };
}
