import { smallTalk, type SmallTalk } from "../../../text/words/small-talk.js";
import { isChinese } from "../../../text/words/chinese.js";

const replies: Readonly<Record<SmallTalk, { readonly english: string; readonly chinese: string }>> = {
  greeting: {
    english: "Hello. Ask me a question, and I look for its answer in the sources that you give.",
    chinese: "你好。请提问，我会在你给出的资料里找答案。",
  },
  thanks: {
    english: "You are welcome.",
    chinese: "不客气。",
  },
  assent: {
    english: "All right. Ask me another question when you have one.",
    chinese: "好的，有问题请再问我。",
  },
  farewell: {
    english: "Goodbye.",
    chinese: "再见。",
  },
  introduction: {
    english:
      "I am the local extractive engine of citewell: I answer by quoting the sources in the messages, and know nothing else.",
    chinese: "我是本地的摘录引擎：只引用消息里给出的资料来回答，别的什么也不知道。",
  },
};

/** The reply to a message that is small talk; `undefined` for any other. */
export function conversationalReply(message: string): string | undefined {
  const kind = smallTalk(message);
  return kind && replies[kind][isChinese(message) ? "chinese" : "english"];
}
