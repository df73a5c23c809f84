/** Every event type that an endpoint may subscribe to. Video events are accepted but not emitted yet. */
export const EVENT_TYPES = ['screenshot.queued', 'screenshot.completed', 'screenshot.failed', 'video.completed', 'video.failed'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The events of a Screenshot. */
export const SCREENSHOT_EVENT_TYPES = ['screenshot.queued', 'screenshot.completed', 'screenshot.failed'] as const satisfies EventType[]
export type ScreenshotEventType = (typeof SCREENSHOT_EVENT_TYPES)[number]
