import type { Capture } from '../api/captures.ts'
import { toSafeLink } from '../format/picture-url.ts'

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
    <section class="panel" aria-labelledby="page-title">
      <div class="panel-head">
        <h2 id="page-title">Page</h2>
      </div>
      <dl class="facts">
        {final_url ? (
          <>
            <dt>Final URL</dt>
            <dd>
              <PageLink text={final_url} />
            </dd>
          </>
        ) : null}
        {http_status === null ? null : (
          <>
            <dt>HTTP status</dt>
            <dd>{http_status}</dd>
          </>
        )}
        {blocked_requests === undefined ? null : (
          <>
            <dt>Blocked requests</dt>
            <dd>{blocked_requests}</dd>
          </>
        )}
        {fonts ? (
          <>
            <dt>Fonts</dt>
            <dd>{fonts.join(', ')}</dd>
          </>
        ) : null}
        {content_hash ? (
          <>
            <dt>SHA-256</dt>
            <dd class="mono">{content_hash.sha256}</dd>
          </>
        ) : null}
        {palette ? (
          <>
            <dt>Colors</dt>
            <dd class="swatches">
              {palette.map((color) => (
                <span key={color}>
                  {COLOR.test(color) ? <i aria-hidden="true" style={{ background: color }} /> : null} {color}
                </span>
              ))}
            </dd>
          </>
        ) : null}
      </dl>
      <TextList title="Redirects" texts={redirects} />
      <TextTable title="Open Graph" values={open_graph} />
      <TextTable title="Response headers" values={http_response_headers} />
      <TextList title="Links" texts={links} />
    </section>
  )
}

function PageLink({ text }: { text: string }) {
  const url = toSafeLink(text)
  if (url === undefined) return <>{text}</>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {text}
    </a>
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
            <PageLink text={text} />
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
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </details>
  )
}
