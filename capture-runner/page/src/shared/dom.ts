// Access to elements that may be anything. A form whose control is called `style` has that control as its property `style`, so properties are read
// through the prototype. The document has no such properties in an isolated world.

/** A tree of elements. */
export type Root = Document | ShadowRoot

type Method<Target> = { [Name in keyof Target]: Target[Name] extends (...values: never[]) => unknown ? Name : never }[keyof Target]

/** A property of an element. Undefined if its vocabulary has none: elements of XML have no style. */
export const read = <Target extends object, Name extends keyof Target>(target: Target, name: Name): Target[Name] =>
  Reflect.get(Object.getPrototypeOf(target), name, target)

/** Sets a property of an element. */
export const write = <Target extends object, Name extends keyof Target>(target: Target, name: Name, value: Target[Name]): boolean =>
  Reflect.set(Object.getPrototypeOf(target), name, value, target)

/** Calls a method of an element. */
export const call = <Target extends object, Name extends Method<Target>>(
  target: Target,
  name: Name,
  ...values: Target[Name] extends (...values: infer Values) => unknown ? Values : never
): Target[Name] extends (...values: never[]) => infer Result ? Result : never =>
  Reflect.get(Object.getPrototypeOf(target), name, target).apply(target, values)

/** The browser's getter, because looking it up for each element takes longer than all else. Found when it is needed: workers have no elements. */
let localName: ((this: Element) => string) | undefined

export function nameOf(element: Element): string {
  localName ??= Object.getOwnPropertyDescriptor(Element.prototype, 'localName')?.get as (this: Element) => string
  return localName.call(element)
}
export const attributeOf = (element: Element, name: string): string | null => call(element, 'getAttribute', name)
export const parentOf = (element: Element): Element | null => read(element, 'parentElement')
export const boxOf = (element: Element): DOMRect => call(element, 'getBoundingClientRect')

/** The matches of a selector in one tree, in its order. */
export const queryAll = (root: ParentNode, selector: string): Element[] => [...call(root as Element, 'querySelectorAll', selector)]

const HTML = 'http://www.w3.org/1999/xhtml'

/** True for elements of HTML, also those of other frames. */
export const isHtml = (element: Element): element is HTMLElement => read(element, 'namespaceURI') === HTML

/** A new element. In documents of other vocabularies, `createElement` makes no HTML. */
export const createHtml = <Name extends keyof HTMLElementTagNameMap>(name: Name, document: Document): HTMLElementTagNameMap[Name] =>
  document.createElementNS(HTML, name) as HTMLElementTagNameMap[Name]

/** Sets properties of an element's inline style with priority. */
export function setStyle(element: Element, properties: Readonly<Record<string, string>>): void {
  const style = read(element as HTMLElement, 'style') as CSSStyleDeclaration | undefined
  for (const [name, value] of Object.entries(properties)) style?.setProperty(name, value, 'important')
}

/** The element that scrolls with the window; undefined in a document without a root element. */
export const scrollingElement = (): Element | undefined => document.scrollingElement ?? document.documentElement ?? undefined

/** The URL that an attribute names; undefined if it names none. Links of SVG and MathML have no property for it. */
export function linkOf(element: Element): URL | undefined {
  const address = attributeOf(element, 'href') ?? call(element, 'getAttributeNS', 'http://www.w3.org/1999/xlink', 'href')
  return address !== null && URL.canParse(address, document.baseURI) ? new URL(address, document.baseURI) : undefined
}
