import type { ComponentChildren } from 'preact'

interface PanelProps {
  title: string
  /** Shown beside the title. */
  beside?: ComponentChildren
  children: ComponentChildren
}

/** Leads back from a page to its list. */
export const Crumb = ({ path, title }: { path: string; title: string }) => (
  <p class="crumb">
    <a href={`#/${path}`}>{title}</a>
  </p>
)

/** A part of a page with a title. */
export function Panel({ title, beside, children }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  )
}
