import { Reason } from '@tintype/crds/schema/conditions'

// The reasons that the operator writes into conditions and Events, with their meanings.

/** Meaning of a reason for its reader, and whether it is recorded as a Warning Event. */
export interface ReasonEntry {
  meaning: string
  event: boolean
}

/** Reasons of a Screenshot while it is not finished. */
export const SCREENSHOT_REASONS = {
  [Reason.capturing]: { meaning: 'A runner is capturing the screenshot.', event: false },
  [Reason.runnerBusy]: { meaning: 'The claimed runner was busy or did not accept the order. The attempt does not count.', event: false },
  [Reason.runnerLost]: { meaning: 'The runner’s pod was lost during the attempt. The operator retries.', event: true },
  [Reason.handedBack]: {
    meaning: 'The runner’s pod is shutting down and returned the screenshot. The attempt does not count.',
    event: true,
  },
  [Reason.attemptFailed]: { meaning: 'The attempt failed, and the page is not the cause. The operator retries.', event: true },
  AccountNotFound: {
    meaning: 'The Account that it names does not exist. It waits, and fails after queue.unrunnableSeconds.',
    event: true,
  },
  PoolNotFound: {
    meaning: 'The RunnerPool that it names does not exist. It waits, and fails after queue.unrunnableSeconds.',
    event: true,
  },
  [Reason.queued]: { meaning: 'Its pool and its account exist again. It waits for a runner.', event: false },
} as const satisfies Record<string, ReasonEntry>

/** Reasons of a RunnerPool’s conditions. */
export const POOL_REASONS = {
  InvalidName: { meaning: 'No screenshot can name the pool: its name has dots or more than 63 characters.', event: true },
  RunnersReady: { meaning: 'At least one runner can capture.', event: false },
  ScaledToZero: { meaning: 'No runners run until a screenshot is queued.', event: false },
  RunnersStarting: { meaning: 'Runners are starting.', event: false },
  RunnersFailing: { meaning: 'Runners exit or do not start.', event: true },
  ImagePullFailed: { meaning: 'The nodes cannot pull the image of the runners.', event: true },
  Unschedulable: { meaning: 'No node can run the runners.', event: true },
  PodsRefused: { meaning: 'The API server rejects new pods because of a quota, an admission rule, or an invalid template.', event: true },
  ClockSkewed: { meaning: 'The clocks of a node and of the operator differ by 30 seconds or more.', event: true },
  AsWanted: { meaning: 'The pool has the desired size or is scaling to it.', event: false },
  AtMaximum: { meaning: 'Screenshots wait, and the pool is at its maximum size.', event: false },
  NotGuarded: { meaning: 'Nothing is dispatched while the admission policies of the release are not in force.', event: false },
  BrowserFenced: { meaning: 'Chromium runs in its sandbox and its process jail.', event: false },
  BrowserNotFenced: { meaning: 'The node does not allow Chromium’s sandbox or the process jail.', event: true },
  SandboxRequired: { meaning: 'The pool requires a sandbox that its runners do not have.', event: false },
  VideoAvailable: { meaning: 'The runners record videos.', event: false },
  VideoUnavailable: { meaning: 'The pool records videos, and its runners cannot.', event: true },
  SwitchedOff: { meaning: 'The pool’s sandbox mode is off.', event: true },
  NotKnown: { meaning: 'No runner has reported yet.', event: false },
  PolicyInForce: {
    meaning: 'Runners can write only the result of their own claim, and users can act only for their own accounts.',
    event: false,
  },
  PolicyMissing: { meaning: 'An admission policy of the release or its binding does not exist.', event: true },
  PolicyChanged: { meaning: 'An admission policy or its binding differs from this release.', event: true },
  PolicyUnknown: { meaning: 'The admission policies could not be read yet.', event: false },
} as const satisfies Record<string, ReasonEntry>

/** Reasons of a ScreenshotSchedule’s condition Ready. */
export const SCHEDULE_REASONS = {
  Scheduled: { meaning: 'Runs are created when they are due.', event: false },
  InvalidSchedule: { meaning: 'The cron expression is not valid.', event: true },
  UnknownTimeZone: { meaning: 'The operator does not know the time zone.', event: true },
  NeverDue: { meaning: 'No date matches the cron expression.', event: true },
  AccountNotFound: { meaning: 'The Account that it names does not exist. No runs are created.', event: true },
  AccountSuspended: { meaning: 'Its Account is suspended. No runs are created.', event: true },
  QuotaExceeded: { meaning: 'The monthly quota of its Account is used up. No runs are created.', event: true },
} as const satisfies Record<string, ReasonEntry>

export type ScheduleReason = keyof typeof SCHEDULE_REASONS
export type ScreenshotReason = keyof typeof SCREENSHOT_REASONS
export type PoolReason = keyof typeof POOL_REASONS
