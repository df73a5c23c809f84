import type { PageFunctions } from '../../../src/page/functions.ts'
import { nameReplaced, replaceIn } from '../shared/natives.ts'
import { moveClock } from './moving-clock.ts'

// These run before any script of the page: the first three in its own world, where they change what the page finds.

export const removeSharedWorkers: PageFunctions['removeSharedWorkers'] = () => {
  delete (globalThis as { SharedWorker?: unknown }).SharedWorker
}

export const adjustGlobals: PageFunctions['adjustGlobals'] = (borders) => {
  if (borders) setOuterSize(borders)
  if (typeof document === 'undefined') keepFrames()
  moveClock()
  nameReplaced()
}

/**
 * A browser whose frames the runner begins waits in each of them for the canvas of a worker that has asked for frames before, and so for ever once the worker
 * asks for no more. So a worker that has asked once goes on.
 */
function keepFrames(): void {
  const { apply } = Reflect
  let isKept = false
  replaceIn(globalThis, 'requestAnimationFrame', (native) => {
    const goOn = (): void => void apply(native, globalThis, [goOn])
    return (receiver, values) => {
      const id = apply(native, receiver, values)
      if (!isKept) goOn()
      isKept = true
      return id
    }
  })
}

function setOuterSize(borders: { width: number; height: number }): void {
  const { apply, getOwnPropertyDescriptor } = Reflect
  const screenOf = getOwnPropertyDescriptor(globalThis, 'screen')?.get
  const sides = { outerWidth: 'width', outerHeight: 'height' } as const
  for (const [name, side] of Object.entries(sides)) {
    const lengthOf = getOwnPropertyDescriptor(Screen.prototype, side)?.get
    if (!lengthOf || !screenOf) continue
    replaceIn(globalThis, name, (native) => (receiver, values) => {
      apply(native, receiver, values) // throws for what is not a window
      const length: number = apply(lengthOf, apply(screenOf, receiver, []), [])
      return length === 0 ? 0 : length + borders[side]
    })
  }
}

export const refuseWebSockets: PageFunctions['refuseWebSockets'] = () => {
  if (!globalThis.WebSocket) return
  class WebSocket extends EventTarget {
    binaryType = 'blob'
    bufferedAmount = 0
    extensions = ''
    protocol = ''
    readyState = 0
    onopen = null
    onmessage = null
    onerror: ((event: Event) => void) | null = null
    onclose: ((event: Event) => void) | null = null
    url: string
    constructor(url: string) {
      super()
      this.url = String(new URL(url, location.href)).replace(/^http/, 'ws')
      setTimeout(() => {
        this.readyState = 3
        this.#report(new Event('error'), this.onerror)
        this.#report(new CloseEvent('close', { code: 1006 }), this.onclose)
      })
    }
    send() {}
    close() {}
    #report(event: Event, handler: ((event: Event) => void) | null): void {
      handler?.call(this, event)
      this.dispatchEvent(event)
    }
  }
  const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 }
  Object.assign(WebSocket, states)
  Object.assign(WebSocket.prototype, states)
  globalThis.WebSocket = WebSocket as unknown as typeof globalThis.WebSocket
}

/** Does not overwrite values that the page has changed. */
export const writeStorage: PageFunctions['writeStorage'] = (origin, entries) => {
  if (location.origin !== origin) return
  for (const [name, value] of Object.entries(entries)) localStorage.getItem(name) ?? localStorage.setItem(name, value)
}
