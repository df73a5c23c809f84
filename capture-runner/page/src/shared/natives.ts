// Replaces functions of the browser so that the page does not notice. They are proxies of the browser's own, so that names, lengths and errors stay. Only
// their text would lack the name. The text must be right in every frame, also for functions of another frame, so it is recognized by what the browser
// says of them. Nothing here calls a method of the page's prototypes, because a page can replace those.

const { apply, getOwnPropertyDescriptor } = Reflect

// biome-ignore lint/complexity/noBannedTypes: any native function
type Native = Function

/** What a replaced function does. */
export type Call = (receiver: unknown, values: unknown[]) => unknown

/** The names of all replaced functions. */
const names: Record<string, true> = Object.create(null)

/** Without a prototype, so that a page cannot add traps. */
const trapsOf = <F extends Native>(traps: ProxyHandler<F>): ProxyHandler<F> => Object.assign(Object.create(null), traps)

/** A function in place of one of the browser's. @param traps for one that is also a constructor */
export function replace<F extends Native>(native: F, call: Call, traps: ProxyHandler<F> = {}): F {
  names[native.name] = true
  return new Proxy(native, trapsOf({ ...traps, apply: (_: F, receiver: unknown, values: unknown[]) => call(receiver, values) }))
}

/** Replaces a method or a getter. Does nothing if the browser has none of this name. */
export function replaceIn(target: object, name: string, toCall: (native: Native) => Call): void {
  const property = getOwnPropertyDescriptor(target, name)
  const key = property?.get ? 'get' : 'value'
  const native: unknown = property?.[key]
  if (typeof native === 'function') Object.defineProperty(target, name, { ...property, [key]: replace(native, toCall(native)) })
}

const NAMELESS = 'function () { [native code] }'

/** Gives the replaced functions of all frames their text. To be called once, after the replacements. */
export function nameReplaced(): void {
  replaceIn(Function.prototype, 'toString', (native) => (receiver, values) => {
    const text: string = apply(native, receiver, values)
    const name: unknown = text === NAMELESS && getOwnPropertyDescriptor(receiver as object, 'name')?.value
    return typeof name === 'string' && names[name] ? `function ${name}() { [native code] }` : text
  })
}
