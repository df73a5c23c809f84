import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/style.ts'

/** Forces a layout, which starts the requests that it needs. Also hides the caret, whose blinking would make two screenshots differ. */
export const countLoading: PageFunctions['countLoading'] = (height) => {
  document.documentElement?.getBoundingClientRect()
  const isNear = (image: HTMLImageElement) => {
    const { top, bottom, left, right, width } = image.getBoundingClientRect()
    return width > 0 && bottom > 0 && right > 0 && left < innerWidth && top < height
  }
  hideCaret()
  const fonts = document.fonts?.status === 'loading' ? 1 : 0
  return fonts + [...document.images].filter((image) => !image.complete && isNear(image)).length
}

function hideCaret(): void {
  const active = document.activeElement
  if (active && ((active as HTMLElement).isContentEditable || /^(input|textarea)$/i.test(active.tagName))) {
    setStyle(active, { 'caret-color': 'transparent' })
  }
}
