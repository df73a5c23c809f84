import { pause } from '../race.ts'
import { addStyles } from './add-styles.ts'
import type { Step, Work } from './step.ts'

/** Milliseconds that videos may take to go back to their beginning. */
const SEEK_MILLISECONDS = 2_000
const INTERVAL_MILLISECONDS = 20

/** Holds the page still for the picture: animations at their end, videos at their beginning, private places covered. */
export const stillPage: Step = {
  name: 'stillPage',
  isWanted: (plan) => plan.endAnimations === true || plan.pauseVideos === true || plan.masked !== undefined,
  run: async (work) => {
    const { tab, plan, signal } = work
    if (plan.endAnimations) {
      await addStyles(work, '*, *::before, *::after { transition: none !important; scroll-behavior: auto !important }')
      await tab.look(END_ANIMATIONS, signal)
    }
    if (plan.pauseVideos) await rewind(work)
    if (plan.masked) await tab.look(coverWith(plan.masked.selectors, plan.masked.color), signal)
  },
}

/** What ends is shown at its end; what does not, as if it had not begun. */
const END_ANIMATIONS = `(() => {
  const end = (root) => {
    for (const animation of root.getAnimations()) {
      try {
        if (animation.effect?.getComputedTiming().endTime === Infinity) animation.cancel()
        else animation.finish()
      } catch {}
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) end(element.shadowRoot)
  }
  end(document)
})()`

async function rewind({ tab, signal }: Work): Promise<void> {
  const until = performance.now() + SEEK_MILLISECONDS
  await tab.look(REWIND, signal)
  while (performance.now() < until && (await tab.look<boolean>(IS_SEEKING, signal))) await pause(INTERVAL_MILLISECONDS, signal)
}

const REWIND = `(() => {
  for (const media of document.querySelectorAll('video, audio')) {
    media.autoplay = false
    media.pause()
    if (media.currentTime > 0) media.currentTime = 0
  }
})()`
const IS_SEEKING = `[...document.querySelectorAll('video')].some((video) => video.seeking)`

/** Boxes over the elements, in the browser's top layer, where no dialogue of the page lies above them. Styled by properties: no policy refuses those. */
const coverWith = (selectors: readonly string[], color: string): string => `(() => {
  const layer = document.createElement('div')
  const style = (element, properties) => { for (const name in properties) element.style.setProperty(name, properties[name], 'important') }
  style(layer, { all: 'initial', position: 'absolute', left: '0', top: '0', width: '0', height: '0', overflow: 'visible', margin: '0', border: '0',
    padding: '0', 'pointer-events': 'none', 'z-index': '2147483647', display: 'block', background: 'none' })
  layer.popover = 'manual'
  document.documentElement.append(layer)
  try { layer.showPopover() } catch {}
  const origin = layer.getBoundingClientRect()
  for (const selector of ${JSON.stringify(selectors)}) {
    let elements = []
    try { elements = document.querySelectorAll(selector) } catch {}
    for (const element of elements) {
      for (const { left, top, width, height } of element.getClientRects()) {
        const box = document.createElement('div')
        style(box, { position: 'absolute', display: 'block', left: left - origin.left + 'px', top: top - origin.top + 'px', width: width + 'px',
          height: height + 'px', background: ${JSON.stringify(color)}, margin: '0', border: '0', padding: '0' })
        layer.append(box)
      }
    }
  }
})()`
