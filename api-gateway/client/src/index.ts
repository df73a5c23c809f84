/** The public surface of @tintype/client. */
export { CaptureFailedError, type ClientErrorCode, type ErrorCode, TintypeError } from './common/errors.ts'
export type { List } from './common/list.ts'
export type * from './common/types.ts'
export { type LinkParameters, type SignLinkOptions, signLink } from './link/sign.ts'
export type { BatchWaitOptions } from './resources/batches.ts'
export type { DownloadOptions } from './resources/screenshots.ts'
export {
  type Capture,
  type CaptureRequest,
  type CaptureStream,
  type Recording,
  type RecordingRequest,
  Tintype,
  type TintypeOptions,
} from './tintype.ts'
export { parseEvent, type VerifyOptions, verifyWebhook, type WebhookHeaders, type WebhookPayload } from './webhook/verify.ts'
