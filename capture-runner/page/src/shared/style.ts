/** Sets properties of an element's inline style with priority. Elements of unknown vocabularies have no style. */
export function setStyle(element: Element, properties: Readonly<Record<string, string>>): void {
  const { style } = element as Partial<HTMLElement>
  for (const [name, value] of Object.entries(properties)) style?.setProperty(name, value, 'important')
}
