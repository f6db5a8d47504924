/** `citewell/video`: the contents of video tasks, their results and callbacks. The calls are methods of the transport. */

export type { MediaFacts, MediaKind } from "../contract/media.js";
export type { VideoContentItem } from "../contract/video-content.js";
export type { VideoStatus, VideoTaskListRequest } from "../contract/video-tasks.js";
export type { VideoRequest } from "../contract/video.js";
export { lastFrameAsFirstFrame, videoContent } from "../models/video-content.js";
export type { MediaSource } from "../models/video-content.js";
export type { MediaCheck } from "../transport/media/check-media.js";
export type { MediaProbe, ReadableMedium } from "../transport/media/media-probe.js";
export { videoCallbacks } from "../transport/video/callbacks.js";
export type { VideoCallbackOptions, VideoCallbacks } from "../transport/video/callbacks.js";
export type { CreateVideoCall, CreatedVideoTask } from "../transport/video/create.js";
export type { DownloadVideoOptions, DownloadedVideo } from "../transport/video/download.js";
export type { ReconcileVideoOptions, ReconciledVideo } from "../transport/video/reconcile.js";
export type { VideoTask } from "../transport/video/task.js";
export type { VideoTaskPage } from "../transport/video/tasks.js";
export { VideoError } from "../transport/video/video-error.js";
export type { VideoErrorCode } from "../transport/video/video-error.js";
export type { VideoPollOptions, VideoProgress, WaitForVideoOptions } from "../transport/video/wait.js";
