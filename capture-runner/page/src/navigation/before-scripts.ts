import type { PageFunctions } from '../../../src/page/functions.ts'

// These run before any script of the page: the first three in its own world, where they change what the page finds.

export const removeSharedWorkers: PageFunctions['removeSharedWorkers'] = () => {
  delete (globalThis as { SharedWorker?: unknown }).SharedWorker
}

/**
 * The getters are proxies of the browser's own, so that names, lengths and errors stay. Only their text would lack the name. The text must be right in
 * every frame, also for getters of another frame, so it is recognized by what the browser says of them.
 */
export const setOuterSize: PageFunctions['setOuterSize'] = (borders) => {
  const { apply, getOwnPropertyDescriptor } = Reflect
  // biome-ignore lint/complexity/noBannedTypes: any native function
  const wrap = <F extends Function>(native: F, call: (receiver: unknown, values: unknown[]) => unknown): F =>
    // Without a prototype, so that a page cannot add traps.
    new Proxy(native, Object.assign(Object.create(null), { apply: (_: F, receiver: unknown, values: unknown[]) => call(receiver, values) }))
  const screenOf = getOwnPropertyDescriptor(globalThis, 'screen')?.get
  const sides = { outerWidth: 'width', outerHeight: 'height' } as const
  for (const [name, side] of Object.entries(sides)) {
    const native = getOwnPropertyDescriptor(globalThis, name)
    const lengthOf = getOwnPropertyDescriptor(Screen.prototype, side)?.get
    if (!native?.get || !lengthOf || !screenOf) continue
    const own = native.get
    const get = wrap(own, (receiver, values) => {
      apply(own, receiver, values) // throws for what is not a window
      const length: number = apply(lengthOf, apply(screenOf, receiver, []), [])
      return length === 0 ? 0 : length + borders[side]
    })
    Object.defineProperty(globalThis, name, { ...native, get })
  }
  const nameless = 'function () { [native code] }'
  // No method of the page's prototypes, which a page can replace by one that calls toString.
  const isOurs = (name: unknown) => name === 'get outerWidth' || name === 'get outerHeight' || name === 'toString'
  const textOf = Function.prototype.toString
  Function.prototype.toString = wrap(textOf, (receiver, values) => {
    const text: string = apply(textOf, receiver, values)
    const name: unknown = text === nameless && getOwnPropertyDescriptor(receiver as object, 'name')?.value
    return isOurs(name) ? `function ${name}() { [native code] }` : text
  })
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
