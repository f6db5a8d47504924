import type { ChatRequest as ContractChatRequest, Message, RoleToolMessage } from "../../contract/chat.js";
import type { ServiceChatFields } from "../../dialects/service-requests.js";
import type { OptionalChatField } from "../../dialects/service-profile.js";
import type { OtherService, ServiceName } from "../../dialects/services.js";

/**
 * The contract's request. `stream` is set by the method; `stop` may be one sequence. What no model takes together does not
 * compile: content of both kinds, tools or thinking for a vision model, the switches of two model families.
 */
export type TransportChatRequest = TextChatRequest | VisionChatRequest;

type ThinkingField = "enable_thinking" | "thinking_budget" | "min_p" | "thinking" | "reasoning_effort";

type Shared = Omit<ContractChatRequest, "stream" | "stop" | "messages" | "tools" | ThinkingField> & {
  /** Texts that end the reply and are not part of it, at most 4, or one. Default: none. */
  readonly stop?: string | readonly string[] | null;
};

type Only<Field extends ThinkingField> = Pick<ContractChatRequest, Field> & Without<Exclude<ThinkingField, Field>>;
type Without<Field extends string> = { readonly [Name in Field]?: never };

interface InText {
  /** The text of the message. */
  readonly content: string;
}

interface InParts {
  /** Texts and images, one at least. */
  readonly content: Exclude<Message["content"], string>;
}

/** For a text model: every content is a string. */
export type TextChatRequest = Shared &
  Pick<ContractChatRequest, "tools"> & {
    /** Messages, oldest first, 1 to 10. */
    readonly messages: readonly (RoleToolMessage & InText)[];
  } & (Only<"enable_thinking" | "thinking_budget" | "min_p"> | Only<"thinking"> | Only<"reasoning_effort">);

/** For a vision model: every content is a list of parts. */
export type VisionChatRequest = Shared & {
  /** Messages, oldest first, 1 to 10. */
  readonly messages: readonly (Message & InParts)[];
} & Without<"tools" | ThinkingField>;

/** Instructions, at services that have a role for them. */
interface DeveloperMessage {
  readonly role: "developer";
  /** Instructions for the model. */
  readonly content: string;
}

/**
 * The contract's request, for other services with what they take beyond it. Fields that a service lacks are refused when the
 * request is sent.
 */
export type ServiceRequest<Service extends ServiceName> = Service extends "contract"
  ? TransportChatRequest
  : OtherServiceRequest<Exclude<Service, "contract">>;

/**
 * A request to a service that is not the contract's own. Fields of the contract that it may lack are left out, not forbidden: so a
 * transport to any service can stand for one to the contract's, as models take it.
 */
type OtherServiceRequest<Service extends OtherService> = Omit<
  ContractChatRequest,
  "stream" | "stop" | "messages" | "response_format" | ThinkingField | OptionalChatField
> &
  ServiceChatFields<Service> & {
    /** Messages, oldest first. */
    readonly messages: readonly (RoleToolMessage | DeveloperMessage)[];
    /** Texts that end the reply and are not part of it, or one. Default: none. */
    readonly stop?: string | readonly string[] | null;
  };
