import { call } from '../shared/dom.ts'

// A page that is shown whole does not scroll, but its scripts may show content only when it does.

export type ScrollTargets = readonly (EventTarget | null | undefined)[]

export function notifyOfScroll(targets: ScrollTargets): void {
  for (const target of targets) if (target) call(target, 'dispatchEvent', new Event('scroll', { bubbles: target instanceof Document }))
}
