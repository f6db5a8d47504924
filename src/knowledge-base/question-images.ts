// A file of its own: it loads the readers of picture formats, which only questions with pictures need.
export { checkImages } from "../models/question-images.js";
