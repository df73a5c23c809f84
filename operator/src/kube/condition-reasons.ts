import { Reason } from '@tintype/crds/schema/conditions'

// What the operator itself writes into conditions and Events: one table of reasons, and what each means.

/** What a reason means to who reads it, and whether it is worth a Warning Event. */
export interface ReasonEntry {
  meaning: string
  event: boolean
}

/** Reasons of a Screenshot while it is not finished. */
export const SCREENSHOT_REASONS = {
  [Reason.capturing]: { meaning: 'A runner captures it.', event: false },
  [Reason.runnerBusy]: { meaning: 'The claimed runner had other work or did not take it; the attempt does not count.', event: false },
  [Reason.runnerLost]: { meaning: 'The runner’s pod was lost during the attempt; another follows.', event: true },
  [Reason.handedBack]: { meaning: 'The runner’s pod was asked to go and gave it back; the attempt does not count.', event: true },
  [Reason.attemptFailed]: { meaning: 'The attempt failed for a reason that is not the page’s; another follows.', event: true },
  AccountNotFound: {
    meaning: 'There is no Account of the name that it names; it waits, then fails after queue.unrunnableSeconds.',
    event: true,
  },
  PoolNotFound: {
    meaning: 'There is no RunnerPool of the name that it asks for; it waits, then fails after queue.unrunnableSeconds.',
    event: true,
  },
  [Reason.queued]: { meaning: 'Its pool and its account exist again; it waits for a runner.', event: false },
} as const satisfies Record<string, ReasonEntry>

/** Reasons of a RunnerPool’s conditions. */
export const POOL_REASONS = {
  RunnersReady: { meaning: 'At least one runner can capture.', event: false },
  ScaledToZero: { meaning: 'No runner is wanted until something is queued.', event: false },
  RunnersStarting: { meaning: 'Runners are on their way.', event: false },
  RunnersFailing: { meaning: 'Runners end, or do not start.', event: true },
  ImagePullFailed: { meaning: 'The nodes cannot have the runners’ image.', event: true },
  Unschedulable: { meaning: 'No node takes the runners.', event: true },
  PodsRefused: { meaning: 'The API server takes no more pods: a quota, an admission rule, or a template that is not legal.', event: true },
  ClockSkewed: { meaning: 'A node’s clock and the operator’s differ by half a minute or more.', event: true },
  AsWanted: { meaning: 'The pool is as large as it should be, or becomes so.', event: false },
  AtMaximum: { meaning: 'Screenshots wait and the pool may not grow.', event: false },
  NotGuarded: { meaning: 'Nothing is dispatched without the release’s admission policies.', event: false },
  BrowserFenced: { meaning: 'Chromium runs in its sandbox and its jail.', event: false },
  BrowserNotFenced: { meaning: 'The node does not allow Chromium’s sandbox or jail.', event: true },
  SandboxRequired: { meaning: 'The pool demands a sandbox that its runners do not have.', event: false },
  SwitchedOff: { meaning: 'The pool’s sandbox mode is off.', event: true },
  NotKnown: { meaning: 'No runner has reported yet.', event: false },
  PolicyInForce: {
    meaning: 'A runner can write the result of its own claim and nothing else, and nobody acts for a foreign account.',
    event: false,
  },
  PolicyMissing: { meaning: 'An admission policy of the release or its binding is not there.', event: true },
  PolicyChanged: { meaning: 'An admission policy or its binding is not the one of this release.', event: true },
  PolicyUnknown: { meaning: 'The admission policies could not be read yet.', event: false },
} as const satisfies Record<string, ReasonEntry>

export type ScreenshotReason = keyof typeof SCREENSHOT_REASONS
export type PoolReason = keyof typeof POOL_REASONS
