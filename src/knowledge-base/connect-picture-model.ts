import { localModels } from "../contract/catalogue.js";
import { OptionsError } from "../core/errors.js";
import type { ChatModel } from "../core/ports.js";
import { chatModel } from "../models/chat-model.js";
import type { Transport } from "../transport/transport.js";
import { connectHere } from "./connect-models.js";

/** A model that sees, and the way to it. */
export interface ConnectedPictureModel {
  readonly model: ChatModel;
  readonly close: () => Promise<void>;
}

/**
 * Connects a model that sees pictures: the one with that id, or the only one that the catalogue has. Without a transport it is
 * the local service's stand-in, which tells format, size and colours.
 *
 * @throws OptionsError (`config`) when none is named and the catalogue does not have exactly one.
 */
export async function connectPictureModel(
  given: Transport | undefined,
  named: string | undefined,
): Promise<ConnectedPictureModel> {
  const { transport, close } = await connectHere(given);
  try {
    // A catalogue has the local service's models, too, which no other service has.
    const catalogue = given
      ? transport.models.filter(({ id }) => !localModels.some((local) => local.id === id))
      : localModels;
    const seeing = catalogue.filter(({ type }) => type === "vlm");
    const [only] = seeing;
    const id = named ?? (seeing.length === 1 ? only!.id : undefined);
    if (id === undefined) throw noPictureModel(seeing.map((model) => model.id));
    return { model: chatModel(transport, { model: id }), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function noPictureModel(seeing: readonly string[]): OptionsError {
  const known = seeing.length > 0 ? `, one of ${seeing.join(", ")}` : "";
  return new OptionsError(
    "config",
    `No model that sees pictures is named: name one with --picture-model${known} (or CITEWELL_PICTURE_MODEL)`,
  );
}
