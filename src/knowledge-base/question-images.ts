// For the server, whose room sees no models.
export { checkImages } from "../models/question-images.js";
