import type { ComponentChildren } from 'preact'
import { toSafeLink } from '../format/picture-url.ts'

/** A row of a `dl` with the class `facts`. Without a value, there is none. */
export function Fact({ name, kind, children }: { name: string; kind?: 'mono' | 'swatches'; children: ComponentChildren }) {
  if (children === null || children === undefined || children === false) return null
  return (
    <>
      <dt>{name}</dt>
      <dd class={kind}>{children}</dd>
    </>
  )
}

/** The options of a capture. */
export const OptionFacts = ({ options }: { options: Readonly<Record<string, unknown>> }) => (
  <dl class="facts mono">
    {Object.entries(options).map(([name, value]) => (
      <Fact key={name} name={name}>
        {typeof value === 'string' ? value : JSON.stringify(value)}
      </Fact>
    ))}
  </dl>
)

/** The URL of a stranger as a link, or as text if it is no http or https URL. */
export function ExternalLink({ url }: { url: string }) {
  const link = toSafeLink(url)
  if (link === undefined) return <>{url}</>
  return (
    <a href={link} target="_blank" rel="noreferrer">
      {url}
    </a>
  )
}
