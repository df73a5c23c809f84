import { useEffect, useState } from 'preact/hooks'
import {
  api,
  type Capture,
  type Collection,
  hasScope,
  isConnectionError,
  isVideo,
  NOUNS,
  recordPath,
  type Session,
  TITLES,
} from '../api/client.ts'
import { toPictureUrl } from '../format/pictures.ts'
import { formatBytes, formatInstant, formatMilliseconds } from '../format/text.ts'
import { forgetCapture, listPath } from '../list/use-captures.ts'
import { navigate } from '../routing/router.ts'
import { Waterfall } from '../ui/bars.tsx'
import { ConfirmButton, CopyButton } from '../ui/buttons.tsx'
import { CaptureNotes, ErrorNote, Missing, PageStatus, StatusBadge } from '../ui/notes.tsx'
import { Crumb, ExternalLink, Fact, OptionFacts, Panel } from '../ui/panel.tsx'
import { Picture } from '../ui/picture.tsx'
import { useAction } from '../ui/use-data.ts'
import { ComparisonPanel } from './comparison.tsx'
import { RecordDeliveries } from './deliveries.tsx'

/** Seconds for which one request waits for the end of the capture. */
const WAIT_SECONDS = 20
/** Pause after a connection error. */
const RETRY_MILLISECONDS = 3_000

type State = { shot?: Capture; error?: unknown }

/** A record that is read again until the capture has ended. */
function useRecord(collection: Collection, id: string): State {
  const [state, setState] = useState<State>({})
  useEffect(() => {
    const control = new AbortController()
    const { signal } = control
    const read = async () => {
      let path = recordPath(collection, id)
      while (!signal.aborted) {
        try {
          const { data: shot } = await api<Capture>(path, { signal })
          setState({ shot })
          if (shot.status !== 'pending') return
          path = `${recordPath(collection, id)}?wait=${WAIT_SECONDS}`
        } catch (error) {
          if (!signal.aborted) setState((before) => ({ ...before, error }))
          if (!isConnectionError(error)) return
          await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS))
        }
      }
    }
    setState({})
    void read()
    return () => control.abort()
  }, [collection, id])
  return state
}

/** True if another capture may name it in `compare_to`. */
const isComparable = (shot: Capture): boolean =>
  !isVideo(shot) && shot.status === 'completed' && shot.format !== 'pdf' && shot.download_url !== null

/** One screenshot or video: the file, facts, additional files, metadata and deliveries. */
export function RecordPage({ collection, id, session }: { collection: Collection; id: string; session: Session }) {
  const { shot, error } = useRecord(collection, id)
  const { problem, act } = useAction()
  const remove = () =>
    act(async () => {
      await api(recordPath(collection, id), { method: 'DELETE' })
      forgetCapture(collection, id)
      navigate(listPath(collection))
    })
  const crumb = <Crumb path={listPath(collection)} title={TITLES[collection]} />
  if (!shot)
    return (
      <>
        {crumb}
        <Missing error={error} />
      </>
    )
  const mayWrite = hasScope(session, 'screenshots:write')
  return (
    <>
      {crumb}
      <div class="panel-head">
        <h2 class="title wrap clamp">{shot.metadata?.page_title || shot.url}</h2>
        <StatusBadge status={shot.status} />
        <PageStatus capture={shot} />
        {mayWrite ? (
          <div class="actions">
            <a class="button" href={`#/playground?from=${shot.id}&of=${collection}`}>
              {isVideo(shot) ? 'Record again' : 'Capture again'}
            </a>
            {isComparable(shot) ? (
              <a class="button" href={`#/playground?from=${shot.id}&of=${collection}&compare_to=${shot.id}`}>
                Compare with this
              </a>
            ) : null}
            <ConfirmButton
              label="Delete"
              title={`Delete this ${NOUNS[collection].one}?`}
              text="The record and its files are deleted, and links to them stop working. Quota is not refunded."
              onConfirm={remove}
            />
          </div>
        ) : null}
      </div>
      <ErrorNote error={problem ?? error} />
      <CaptureNotes shot={shot} />
      <div class="columns record">
        <div>
          <section class="panel" aria-label="File">
            {shot.status === 'completed' ? <Picture shot={shot} /> : null}
            {shot.status === 'pending' ? <p class="busy">The {isVideo(shot) ? 'recording' : 'capture'} has not ended yet.</p> : null}
            {shot.status === 'failed' ? <p class="empty">A failed {isVideo(shot) ? 'recording' : 'capture'} has no file.</p> : null}
          </section>
          {!isVideo(shot) && shot.comparison ? <ComparisonPanel shot={shot} comparison={shot.comparison} /> : null}
          {shot.metadata?.timings ? (
            <section class="panel" aria-label="Timing">
              <Waterfall steps={shot.metadata.timings.steps} />
            </section>
          ) : null}
          <RecordDeliveries id={shot.id} session={session} />
        </div>
        <div>
          <Panel title="Record" beside={<CopyButton text={shot.id} label="Copy id" />}>
            <dl class="facts">
              <Fact name="Id">{shot.id}</Fact>
              <Fact name="URL">
                <ExternalLink url={shot.url} />
              </Fact>
              <Fact name="Created">{formatInstant(shot.created_at)}</Fact>
              <Fact name="Started">{shot.started_at && formatInstant(shot.started_at)}</Fact>
              <Fact name="Ended">{shot.completed_at && formatInstant(shot.completed_at)}</Fact>
              <Fact name="Duration">{shot.processing_duration_ms !== null && formatMilliseconds(shot.processing_duration_ms)}</Fact>
              {isVideo(shot) ? <Fact name="Length">{shot.duration_ms !== null && formatMilliseconds(shot.duration_ms)}</Fact> : null}
              {isVideo(shot) ? <Fact name="Frames">{shot.frames !== null && `${shot.frames}, ${shot.fps} a second`}</Fact> : null}
              <Fact name="Attempts">{String(shot.attempts)}</Fact>
              <Fact name="From the cache">{shot.cached && 'yes'}</Fact>
              <Fact name="Truncated">{shot.truncated && 'yes'}</Fact>
              <Fact name="Batch">{shot.batch_id}</Fact>
              <Fact name="Schedule">{shot.schedule_id && <a href={`#/schedules/${shot.schedule_id}`}>{shot.schedule_id}</a>}</Fact>
              <Fact name="External identifier">{shot.external_identifier}</Fact>
              <Fact name="Link expires">{shot.download_url_expires_at && formatInstant(shot.download_url_expires_at)}</Fact>
            </dl>
          </Panel>
          {shot.artifacts.length > 0 ? <Artifacts shot={shot} /> : null}
          <Panel title="Options" beside={<CopyButton text={JSON.stringify(shot.options, null, 2)} />}>
            <OptionFacts options={shot.options} />
          </Panel>
          {shot.metadata ? <PageMetadata metadata={shot.metadata} /> : null}
        </div>
      </div>
    </>
  )
}

/** Additional files. They open as downloads, and never run in the console's origin. */
function Artifacts({ shot }: { shot: Capture }) {
  return (
    <Panel title="Files">
      <ul class="plain-list">
        {shot.artifacts.map(({ type, download_url, file_size_bytes }) => {
          const link = toPictureUrl(download_url)
          return (
            <li key={type}>
              {link ? (
                <a href={link} target="_blank" rel="noreferrer">
                  {type}
                </a>
              ) : (
                type
              )}{' '}
              <span class="soft">{link ? formatBytes(file_size_bytes) : 'expired'}</span>
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}

type Metadata = NonNullable<Capture['metadata']>

/** A color as the runner writes it. Anything else is not used as a style. */
const COLOR = /^#[0-9a-f]{6}$/i

/** What the record says about the page. All of it comes from the page, so it is shown as text only. */
function PageMetadata({ metadata }: { metadata: Metadata }) {
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
