import { Reason } from '@tintype/crds/schema/conditions'

// The reasons that the operator writes into conditions, and whether it also records a Warning Event. docs/operations.md explains
// those that have one.

/** Reasons of a Screenshot while it is not finished. */
export const SCREENSHOT_REASONS = {
  [Reason.capturing]: false,
  [Reason.runnerBusy]: false,
  [Reason.runnerLost]: true,
  [Reason.handedBack]: true,
  [Reason.attemptFailed]: true,
  AccountNotFound: true,
  PoolNotFound: true,
  [Reason.queued]: false,
} as const satisfies Record<string, boolean>

/** Reasons of a RunnerPool’s conditions. */
export const POOL_REASONS = {
  InvalidName: true,
  RunnersReady: false,
  ScaledToZero: false,
  RunnersStarting: false,
  RunnersFailing: true,
  ImagePullFailed: true,
  Unschedulable: true,
  PodsRefused: true,
  ClockSkewed: true,
  AsWanted: false,
  AtMaximum: false,
  NotGuarded: false,
  BrowserFenced: false,
  BrowserNotFenced: true,
  SandboxRequired: false,
  VideoAvailable: false,
  VideoUnavailable: true,
  SwitchedOff: true,
  NotKnown: false,
  PolicyInForce: false,
  PolicyMissing: true,
  PolicyChanged: true,
  PolicyUnknown: false,
} as const satisfies Record<string, boolean>

/** Reasons of a ScreenshotSchedule’s condition Ready. */
export const SCHEDULE_REASONS = {
  Scheduled: false,
  InvalidSchedule: true,
  UnknownTimeZone: true,
  NeverDue: true,
  AccountNotFound: true,
  AccountSuspended: true,
  QuotaExceeded: true,
  UrlNotAllowed: true,
  OptionNotAllowed: true,
  PolicyTooLarge: true,
} as const satisfies Record<string, boolean>

export type ScheduleReason = keyof typeof SCHEDULE_REASONS
export type ScreenshotReason = keyof typeof SCREENSHOT_REASONS
export type PoolReason = keyof typeof POOL_REASONS
