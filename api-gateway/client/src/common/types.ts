import type { components, operations } from '../generated/api.ts'

// Names for the generated types, and the settings that every call accepts.

type Schemas = components['schemas']
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** What the last argument of every call accepts, besides fields of the API. */
export interface CallOptions {
  /** Cancels the call. The call then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
}

/** What calls that create something accept. */
export interface CreateOptions extends CallOptions {
  /** Default: a random UUID. Repeats of a request with the same key and fields create once. Set it to stay safe across restarts of your program. */
  idempotencyKey?: string | undefined
}

/** What calls that wait for a capture accept. */
export interface WaitOptions extends CallOptions {
  /** Maximum time to wait for the capture in milliseconds. Default: 300000, five minutes. */
  waitTimeout?: number | undefined
}

/** The full record of a screenshot. */
export type Screenshot = Schemas['Screenshot']
/** The full record of a video. */
export type Video = Schemas['Video']
export type ScreenshotStatus = Screenshot['status']
/** The response to a create. */
export type CreatedScreenshot = Schemas['CreatedScreenshot']
export type CreatedVideo = Schemas['CreatedVideo']
/** A file beside the picture, from `thumbnail_…` and `save_…` options. */
export type Artifact = Screenshot['artifacts'][number]
export type ArtifactType = Artifact['type']

/** All options of a screenshot. */
export type CaptureOptions = Omit<NonNullable<Schemas['CreateScreenshot']['options']>, 'url'>
/** Fields of a request that are not capture options. */
export type ScreenshotFields = Omit<Schemas['CreateScreenshot'], 'options' | 'async' | 'response_type'>
/** A page to capture, with its options. Leave out `url` if `html` or `markdown` contains the page. */
export type ScreenshotRequest = ScreenshotFields & CaptureOptions
export type ScreenshotQuery = Omit<Query<'listScreenshots'>, 'status' | 'cursor'> & {
  /** One or more states. */
  status?: ScreenshotStatus | readonly ScreenshotStatus[]
}

/** All options of a video. */
export type VideoOptions = Omit<NonNullable<Schemas['CreateVideo']['options']>, 'url'>
/** Fields of a request for a video that are not options. */
export type VideoFields = Omit<Schemas['CreateVideo'], 'options' | 'async' | 'response_type'>
/** A page to record, with its options. Leave out `url` if `html` or `markdown` contains the page. */
export type VideoRequest = VideoFields & VideoOptions
export type VideoQuery = Omit<Query<'listVideos'>, 'status' | 'cursor'> & {
  /** One or more states. */
  status?: ScreenshotStatus | readonly ScreenshotStatus[]
}

export type BatchFields = Omit<Schemas['CreateBatch'], 'options'>
/** Up to 100 pages to capture with the same options. */
export type BatchRequest = BatchFields & CaptureOptions
export type CreatedBatch = Schemas['CreatedBatch']
/** A batch, its progress and its screenshots. */
export type Batch = Schemas['Batch']['data']

export type Schedule = Schemas['Schedule']
/** Fields of a request for a schedule that are not capture options. */
export type ScheduleFields = Omit<Schemas['CreateSchedule'], 'options'>
/** A page to capture again and again, with its options. Leave out `url` if `html` or `markdown` contains the page. */
export type ScheduleRequest = ScheduleFields & NonNullable<Schemas['CreateSchedule']['options']>
/** Fields and options to change. Null restores a default. */
export type ScheduleChanges = Schemas['UpdateSchedule']
/** A run of a schedule: a screenshot or a video. */
export type ScheduleRun = Schemas['ScheduleRun']
/** The run to approve. */
export type Approval = Schemas['ApproveRun']
/** The run whose approval was undone, and the one that later runs are compared with. */
export type UndoneApproval = Schemas['ApprovalUndone']['data']
/** The response to a run that is started by hand. */
export type CreatedRun = Schemas['CreatedRun']

export type Webhook = Schemas['Webhook']
export type WebhookWithStatistics = Schemas['WebhookFound']['data']
/** A webhook endpoint with its signing secret, which only the first response contains. */
export type CreatedWebhook = Schemas['WebhookCreated']['data']
export type WebhookRequest = Schemas['CreateWebhook']
export type WebhookChanges = Schemas['UpdateWebhook']
export type WebhookTestResult = Schemas['WebhookTestResult']
export type RotatedSecret = Schemas['SigningSecretRotated']['data']
export type Rotation = Schemas['RotateSecret']
export type Delivery = Schemas['Delivery']
export type DeliveryStatus = Delivery['status']
export type DeliveryQuery = Omit<Query<'listDeliveries'>, 'status' | 'cursor'> & {
  /** One or more states. */
  status?: DeliveryStatus | readonly DeliveryStatus[]
}
export type Redelivery = Schemas['RedeliveryAccepted']['data']

export type ApiKey = Schemas['ApiKey']
/** An API key with its text in `key`, which only the first response contains. */
export type CreatedApiKey = Schemas['ApiKeyCreated']['data']
export type RotatedApiKey = Schemas['ApiKeyRotated']['data']
/** The secret that signs links of an API key: `key` is the id of the API key. */
export type LinkSecret = Schemas['LinkSecret']['data']
export type LinkPolicy = Schemas['LinkPolicy']
export type CapturePolicy = Schemas['CapturePolicy']
/** Whether the capture policy of a key allows a URL, and why not. */
export type CheckedUrl = Schemas['KeyUrlChecked']['data']
export type ApiKeyRequest = Schemas['CreateKey']
export type ApiKeyChanges = Schemas['UpdateKey']
/** Query of the lists of webhooks and API keys. */
export interface InactiveQuery {
  include_inactive?: boolean
  /** Records per page, at most 500. Default: 100. */
  limit?: number
  /** Records to skip. Default: 0. */
  offset?: number
}

export type Usage = Schemas['Usage']['data']
/** Usage of one UTC day. */
export type DayUsage = Schemas['DailyUsage']['data'][number]
export type Device = Schemas['DeviceList']['data'][number]
export type ServiceStatus = Schemas['ServiceStatus']

/** An event as it is posted to a webhook endpoint. */
export type WebhookEvent = Schemas['Event'] | Schemas['VideoEvent']

/** Error code of a response. */
export type ResponseErrorCode = Schemas['Error']['error']['code']
/** Error code of a failed capture. */
export type CaptureErrorCode = Schemas['CaptureError']['code']
/** One problem of a request, in `error.details`. */
export type Problem = Schemas['Problem']
