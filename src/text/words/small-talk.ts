/** Patterns of phrases that ask nothing of the sources, in English and Chinese, by kind. */
const said = {
  greeting:
    /^(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|how are you|what['’]s up|你好|您好|嗨|早上好|下午好|晚上好|你好吗)(?: there| all| everyone| doing| today)*$/i,
  thanks:
    /^(?:(?:ok(?:ay)?|great|perfect) )*(?:(?:many )?thanks|thank you|thx|cheers|多谢|感谢|谢谢)(?: a lot| so much| very much| again|你|您|大家)*$/i,
  assent:
    /^(?:ok(?:ay)?|yes|no|great|perfect|nice|cool|good|all right|got it|i see|understood|好的?|嗯|明白了|知道了)$/i,
  farewell: /^(?:good ?)?bye(?: bye)?$|^good ?night$|^see you(?: later| soon)?$|^(?:再见|晚安)$/i,
  introduction:
    /^(?:who|what) (?:are|made) you$|^what(?: is|['’]s) your name$|^what (?:can|do) (?:you (?:do|know)|i ask you)$|^(?:how )?can you help(?: me)?$|^help$|^introduce yourself$|^are you (?:an? )?(?:ai|bot|robot|human|model|person)$|^你是(?:谁|什么|人|机器人|人工智能)吗?$|^你叫什么(?:名字)?$|^你(?:能|会)(?:做|帮我)?(?:做)?什么$|^介绍一下你自己$/i,
} as const;

export type SmallTalk = keyof typeof said;

/** Maximum length of small talk, in UTF-16 units; longer messages ask for something. */
const maxLength = 100;

/**
 * The kind of a message that is only a greeting, thanks, an assent, a farewell or a question about the one who answers, or
 * several of these: the last of them. `undefined` for anything else.
 */
export function smallTalk(message: string): SmallTalk | undefined {
  if (message.length > maxLength) return undefined;
  const clauses = message.split(/[,.!?;，。！？；、~\n]/).map((clause) => clause.replace(/\s+/g, " ").trim());
  const kinds = clauses.filter((clause) => clause !== "").map(kindOf);
  return kinds.includes(undefined) ? undefined : kinds.at(-1);
}

/** Whether a message asks for nothing, whatever was said before. An assent does not: it may answer a question. */
export function asksForNothing(message: string): boolean {
  const kind = smallTalk(message);
  return kind !== undefined && kind !== "assent";
}

function kindOf(clause: string): SmallTalk | undefined {
  return Object.entries(said).find(([, pattern]) => pattern.test(clause))?.[0] as SmallTalk | undefined;
}
