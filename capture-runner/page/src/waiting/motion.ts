import type { PageFunctions } from '../../../src/page/functions.ts'
import { recall, remember } from '../shared/state.ts'
import { EVERYTHING } from './changes.ts'

/** Skips infinite and scroll-driven animations. The first call in a document reports no changes, because it only starts to observe them. */
export const advanceAnimations: PageFunctions['advanceAnimations'] = (milliseconds, left) => {
  const watch = recall('tintypeMotion') ?? remember('tintypeMotion', createWatch())
  let animations = 0
  let canvases = 0
  const visit = (root: Document | ShadowRoot) => {
    if (!watch.roots.has(root)) {
      watch.roots.add(root)
      watch.observer.observe(root, EVERYTHING)
    }
    for (const animation of root.getAnimations()) if (advance(animation, milliseconds, left)) animations++
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) visit(element.shadowRoot)
      else if (element.localName === 'canvas') canvases++
      else if (element.localName === 'iframe') {
        const inner = (element as HTMLIFrameElement).contentDocument
        if (inner) visit(inner)
      }
    }
  }
  visit(document)
  const changes = watch.changes + watch.observer.takeRecords().length
  watch.changes = 0
  return { hasChanges: changes > 0, animations, canvases }
}

function createWatch() {
  const observer = new MutationObserver((records) => {
    watch.changes += records.length
  })
  const watch = { roots: new WeakSet<Node>(), changes: 0, observer }
  return watch
}

/** True if the animation goes on and ends within the remaining time. */
function advance(animation: Animation, milliseconds: number, left: number): boolean {
  if (animation.playState !== 'running' || !animation.timeline || 'source' in animation.timeline) return false
  const end = animation.effect?.getComputedTiming().endTime
  if (typeof end !== 'number' || end === Number.POSITIVE_INFINITY || animation.playbackRate <= 0) return false
  const next = Number(animation.currentTime ?? 0) + milliseconds * animation.playbackRate
  if (milliseconds > 0 && next >= end) {
    animation.finish()
    return false
  }
  if (milliseconds > 0) animation.currentTime = next
  return (end - next) / animation.playbackRate <= left
}
