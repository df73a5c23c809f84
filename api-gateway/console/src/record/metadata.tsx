import type { Capture } from '../api/captures.ts'
import { ExternalLink, Fact } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'

type Metadata = NonNullable<Capture['metadata']>

/** A color as the runner writes it. Anything else is not used as a style. */
const COLOR = /^#[0-9a-f]{6}$/i

/** What the record says about the page. All of it comes from the page, so it is shown as text only. */
export function PageMetadata({ metadata }: { metadata: Metadata }) {
  const { final_url, http_status, redirects, open_graph, http_response_headers, fonts, palette, links, blocked_requests, content_hash } =
    metadata
  const { page_title: _, timings: __, ...shown } = metadata
  if (Object.values(shown).every((value) => value === null)) return null
  return (
    <Panel title="Page">
      <dl class="facts">
        <Fact name="Final URL">{final_url && <ExternalLink url={final_url} />}</Fact>
        <Fact name="HTTP status">{http_status}</Fact>
        <Fact name="Blocked requests">{blocked_requests}</Fact>
        <Fact name="Fonts">{fonts?.join(', ')}</Fact>
        <Fact name="SHA-256" kind="mono">
          {content_hash?.sha256}
        </Fact>
        <Fact name="Colors" kind="swatches">
          {palette?.map((color) => (
            <span key={color}>
              {COLOR.test(color) ? <i aria-hidden="true" style={{ background: color }} /> : null} {color}
            </span>
          ))}
        </Fact>
      </dl>
      <TextList title="Redirects" texts={redirects} />
      <TextTable title="Open Graph" values={open_graph} />
      <TextTable title="Response headers" values={http_response_headers} />
      <TextList title="Links" texts={links} />
    </Panel>
  )
}

function TextList({ title, texts }: { title: string; texts: readonly string[] | undefined }) {
  if (!texts || texts.length === 0) return null
  return (
    <details>
      <summary>
        {title} ({texts.length})
      </summary>
      <ul class="plain-list wrap">
        {texts.map((text) => (
          <li key={text}>
            <ExternalLink url={text} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function TextTable({ title, values }: { title: string; values: Readonly<Record<string, string>> | undefined }) {
  const entries = Object.entries(values ?? {})
  if (entries.length === 0) return null
  return (
    <details>
      <summary>
        {title} ({entries.length})
      </summary>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
    </details>
  )
}
