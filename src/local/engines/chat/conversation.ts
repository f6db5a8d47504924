import { isChinese } from "./reading.js";

/** What people say that asks nothing of the sources, with the reply in English and in Chinese. */
const exchanges: readonly { readonly said: RegExp; readonly english: string; readonly chinese: string }[] = [
  {
    said: /^(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|how are you|what['’]s up|你好|您好|嗨|早上好|下午好|晚上好|你好吗)(?: there| all| everyone| doing| today)*$/i,
    english: "Hello. Ask me a question, and I look for its answer in the sources that you give.",
    chinese: "你好。请提问，我会在你给出的资料里找答案。",
  },
  {
    said: /^(?:(?:ok(?:ay)?|great|perfect) )*(?:(?:many )?thanks|thank you|thx|cheers|多谢|感谢|谢谢)(?: a lot| so much| very much| again|你|您|大家)*$/i,
    english: "You are welcome.",
    chinese: "不客气。",
  },
  {
    said: /^(?:ok(?:ay)?|yes|no|great|perfect|nice|cool|good|all right|got it|i see|understood|好的?|嗯|明白了|知道了)$/i,
    english: "All right. Ask me another question when you have one.",
    chinese: "好的，有问题请再问我。",
  },
  {
    said: /^(?:good ?)?bye(?: bye)?$|^good ?night$|^see you(?: later| soon)?$|^(?:再见|晚安)$/i,
    english: "Goodbye.",
    chinese: "再见。",
  },
  {
    said: /^(?:who|what) (?:are|made) you$|^what(?: is|['’]s) your name$|^what (?:can|do) (?:you (?:do|know)|i ask you)$|^(?:how )?can you help(?: me)?$|^help$|^introduce yourself$|^are you (?:an? )?(?:ai|bot|robot|human|model|person)$|^你是(?:谁|什么|人|机器人|人工智能)吗?$|^你叫什么(?:名字)?$|^你(?:能|会)(?:做|帮我)?(?:做)?什么$|^介绍一下你自己$/i,
    english:
      "I am the local extractive engine of citewell: I answer by quoting the sources in the messages, and know nothing else.",
    chinese: "我是本地的摘录引擎：只引用消息里给出的资料来回答，别的什么也不知道。",
  },
];

/** Longer messages ask for something, in UTF-16 units. */
const maxLength = 100;

/**
 * The reply to a greeting, to thanks, to a farewell, or to a question about the engine, and to several in one message;
 * `undefined` for anything else.
 */
export function conversationalReply(message: string): string | undefined {
  if (message.length > maxLength) return undefined;
  const clauses = message.split(/[,.!?;，。！？；、~\n]/).map((clause) => clause.replace(/\s+/g, " ").trim());
  const said = clauses.filter((clause) => clause !== "");
  const found = said.map((clause) => exchanges.find((exchange) => exchange.said.test(clause)));
  if (found.includes(undefined)) return undefined;
  return isChinese(message) ? found.at(-1)?.chinese : found.at(-1)?.english;
}
