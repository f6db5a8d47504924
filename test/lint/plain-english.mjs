/**
 * Lint rules for English. A comment that begins with "What", "Of" or "By" has no subject, so that its reader has to guess what
 * it is about; one that repeats the name below it says nothing; and some names have a better word in the trade.
 */

const headless = /^(?:What|Of|By|Those|Which|As|In what|Whoever|Whose)\b(?! (?:default|of)\b)/;

/** Words that add nothing to a name: a comment of these and the name alone is empty. */
const emptyWords = new Set(["the", "a", "an", "its", "this", "whole", "itself", "of"]);

/** Names that are refused, with the one that an engineer would use. */
const betterNames = new Map([
  ["mostTokens", "maxTokens"],
  ["longestHere", "maxInlineCharacters"],
  ["fewestTexts", "minTexts"],
  ["isPassing", "isTransient"],
  ["apart", "separate, or distance"],
  ["Incoming", "ResponseReader"],
  ["sifted", "filterCandidates"],
  ["keepLanded", "persistEarlyVectors"],
  ["wayOut", "hint"],
  ["isPraise", "isSuccessNotice"],
  ["heldWhole", "bufferedBody"],
  ["writtenWords", "renderedWords"],
  ["reprints", "duplicates"],
]);

/** The text of a comment on one line, without the asterisks of its lines and without tags. */
function textOf({ value }) {
  const lines = value.split("\n").map((line) => line.replace(/^\s*\*+/, "").trim());
  return lines.filter((line) => line !== "" && !line.startsWith("@")).join(" ");
}

/** Whether a line comment continues the one above it. */
function continues(comment, above) {
  if (comment.type !== "Line" || above?.type !== "Line") return false;
  const { start } = comment.loc;
  return start.line === above.loc.end.line + 1 && start.column === above.loc.start.column;
}

const headlessComment = {
  create(context) {
    return {
      Program() {
        let above;
        for (const comment of context.sourceCode.getAllComments()) {
          const isFirst = !continues(comment, above);
          above = comment;
          const text = textOf(comment);
          if (!isFirst || !headless.test(text) || text.endsWith("?")) continue;
          const opening = text.split(" ").slice(0, 4).join(" ");
          context.report({ loc: comment.loc, message: `Give this comment a subject: it begins with "${opening} …"` });
        }
      },
    };
  },
};

/** The words of a name or a comment in small letters: `mediaType` has two. */
function wordsOf(text) {
  return text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");
}

const emptyComment = {
  create(context) {
    const check = (member) => {
      const comment = context.sourceCode.getCommentsBefore(member).at(-1);
      if (member.key.type !== "Identifier" || !comment?.value.startsWith("*") || /[@`]/.test(comment.value)) return;
      const name = wordsOf(member.key.name);
      const added = wordsOf(textOf(comment)).filter((word) => !emptyWords.has(word) && !name.includes(word));
      if (added.length > 0) return;
      context.report({ loc: comment.loc, message: `This comment says no more than the name \`${member.key.name}\`` });
    };
    return { TSPropertySignature: check, PropertyDefinition: check };
  },
};

/** Variables that say nothing of their values. */
const bareNames = new Set(["each", "at", "of"]);

/** Calls a function with every name that a node declares. */
function declaredNames(context, check) {
  const declared = (node) => {
    for (const variable of context.sourceCode.getDeclaredVariables(node)) {
      for (const name of variable.identifiers) check(name);
    }
  };
  return {
    VariableDeclaration: declared,
    FunctionDeclaration: declared,
    FunctionExpression: declared,
    ArrowFunctionExpression: declared,
    ClassDeclaration: declared,
  };
}

const bareName = {
  create(context) {
    return declaredNames(context, (node) => {
      if (!bareNames.has(node.name)) return;
      context.report({ node, message: `Name this variable after its value: \`${node.name}\` says nothing of it` });
    });
  },
};

const betterName = {
  create(context) {
    const check = (node) => {
      const better = betterNames.get(node.name);
      if (better) context.report({ node, message: `\`${node.name}\` has a better name: ${better}` });
    };
    const member = ({ key }) => check(key);
    return {
      ...declaredNames(context, check),
      TSInterfaceDeclaration: ({ id }) => check(id),
      TSTypeAliasDeclaration: ({ id }) => check(id),
      TSPropertySignature: member,
      TSMethodSignature: member,
      PropertyDefinition: member,
      MethodDefinition: member,
    };
  },
};

export default {
  meta: { name: "plain-english" },
  rules: {
    "headless-comment": headlessComment,
    "empty-comment": emptyComment,
    "better-name": betterName,
    "bare-name": bareName,
  },
};
