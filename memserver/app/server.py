"""One server: its parts built in order, started together, stopped in reverse."""

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from memserver.api.build import build_api
from memserver.api.limits import Limits
from memserver.app.metrics import Metrics, Readings
from memserver.app.opening import Parts, detector, jobs_url, utc_now
from memserver.app.settings import Settings
from memserver.domain.errors import Unavailable
from memserver.domain.ports import Encoder, Jobs, Work
from memserver.ids import uuid7
from memserver.jobs import DbosJobs, Dispatcher, executor_identity
from memserver.services.access import Access, IssuedKey
from memserver.services.asking import Asking
from memserver.services.backing_up import BackingUp
from memserver.services.bundle import Services
from memserver.services.changing import Changing
from memserver.services.consolidating import ConsolidateRunner, Consolidating
from memserver.services.distilling import Distilling, DistillRunner
from memserver.services.drafting import Drafting
from memserver.services.entities import Entities
from memserver.services.erasing import EraseRunner, Erasing
from memserver.services.evolving import EvolveRunner, Evolving
from memserver.services.exporting.export import Exporting
from memserver.services.forgetting import Forgetting
from memserver.services.gate import Gate
from memserver.services.grepping.grep import Grepping
from memserver.services.guarding.guarding import Guarding
from memserver.services.guiding import Guiding
from memserver.services.housekeeping import Housekeeping, Keeping
from memserver.services.indexing import Indexer
from memserver.services.model_budget import ModelBudget
from memserver.services.namespace_settings import Settling
from memserver.services.nearby import Nearby
from memserver.services.operations import OperationService
from memserver.services.policies.exploring import Exploring
from memserver.services.policies.lifecycle import Lifecycle
from memserver.services.policies.overview import Overviewing
from memserver.services.policies.proving import Proving
from memserver.services.policies.serving import Scorers, Serving
from memserver.services.portfolios import Portfolios
from memserver.services.practising import Practising
from memserver.services.preferring.preferring import Preferring
from memserver.services.privacy.protecting import Protecting
from memserver.services.privacy.sealing import sealing_of
from memserver.services.privacy.unsealing import Unsealing
from memserver.services.readiness import Readiness
from memserver.services.reindexing import Reindexing, ReindexRunner
from memserver.services.remembering import Remembering
from memserver.services.restoring import Restoring
from memserver.services.retrieval.retrieve import Retrieve
from memserver.services.routing import Routing
from memserver.services.scheduling import Scheduling
from memserver.services.sessions.ending import Ending
from memserver.services.sessions.reading import Sessions
from memserver.services.sessions.recording import Recording
from memserver.services.sessions.summing_up import SummingUp
from memserver.services.similar_cases import SimilarCases
from memserver.services.skills.card import Cards
from memserver.services.skills.exporting import SkillExporting
from memserver.services.skills.importing import Importing
from memserver.services.skills.quarantine import Quarantine
from memserver.services.text_likeness import TextLikeness
from memserver.services.tools.offered import memory_tools
from memserver.services.tracing import Tracing
from memserver.services.trajectories import Trajectories
from memserver.services.valuing import Valuing
from memserver.services.version_vectors import VersionVectors, vector_names
from memserver.services.writing.deciding import Deciding
from memserver.services.writing.recalled import Handed
from memserver.services.writing.searching import Searching
from memserver.services.writing.writing import Writing
from memserver.storage.encoders import BatchingEncoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import SqlStore

EXPORTED_VECTORS_KEPT = 512
SETTLE_S = 5.0


class Server:
    """`api` is the ASGI application, whose lifespan runs `start` and `stop`. `first_key` is the
    system key where this was the very first start."""

    def __init__(
        self,
        settings: Settings,
        parts: Parts,
        *,
        make_jobs: Callable[[Work, Settings], Jobs] | None = None,
    ) -> None:
        self.settings = settings
        self._parts = parts
        self._bell = threading.Event()
        self.metrics = Metrics()
        with ExitStack() as stack:
            # What cannot be built leaves nothing open.
            stack.callback(parts.store.close)
            stack.callback(parts.index.close)
            stack.callback(parts.encoder.close)
            self.services = self._build()
            stack.pop_all()
        self.metrics.watch(readings(self.services, parts.encoder))
        self._jobs = (make_jobs or dbos_jobs)(self.services.operations, settings)
        self._dispatcher = Dispatcher(store=parts.store, jobs=self._jobs, bell=self._bell)
        self._stack = ExitStack()
        self.api = build_api(
            self.services,
            limits=limits(settings),
            lifespan=self._lifespan,
            meter=self.metrics,
            scrape=self.metrics.scrape,
        )

    @cached_property
    def first_key(self) -> IssuedKey | None:
        """Made when it is first asked for, so that whoever asks can print it at once: a key
        that was stored and never shown would lock its owner out."""
        return self.services.access.first_key()

    def start(self) -> None:
        """Starts the helpers. What fails here stops what was started before."""
        with ExitStack() as stack:
            stack.callback(self._parts.store.close)
            stack.callback(self._parts.index.close)
            stack.callback(self._parts.encoder.close)
            if self._parts.chat is not None:
                stack.callback(self._parts.chat.close)
            self.services.indexer.start()
            stack.callback(self.services.indexer.stop)
            self._jobs.start()
            stack.callback(self._jobs.stop)
            self._dispatcher.start()
            stack.callback(self._dispatcher.stop)
            self.services.housekeeping.start()
            stack.callback(self.services.housekeeping.stop)
            self._stack = stack.pop_all()

    def stop(self) -> None:
        """Stops them in reverse; what was acknowledged is durable, what runs is resumed at the
        next start."""
        self._stack.close()

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(self.start)
        try:
            yield
        finally:
            await run_in_threadpool(self.stop)

    def _wake_dispatcher(self) -> None:
        """Raises `Unavailable` where nobody would hear: work must not be accepted that nothing
        is going to start."""
        if not self._dispatcher.alive:
            raise Unavailable("What starts operations has died; start the server again.")
        self._bell.set()

    def _asking(self, budget: ModelBudget) -> Asking | None:
        """None where no chat model is configured: nothing needs one."""
        if self._parts.chat is None:
            return None
        return Asking(self._parts.chat, budget, meter=self.metrics)

    def _build(self) -> Services:
        store, encoder, index = self._parts.store, self._parts.encoder, self._parts.index
        protecting = Protecting(sealing_of(self.settings.sealing_key), detector(self.settings))
        protecting.open(store)
        store.protect_with(protecting)
        # Whatever keeps something of a namespace, a version or a policy in memory.
        caches: list[Callable[[], None]] = []
        access = Access(store, clock=utc_now, new_id=uuid7)
        remembering = Remembering(
            store,
            access,
            clock=utc_now,
            new_id=uuid7,
            inherited_share=self.settings.inherited_share,
        )
        budget = ModelBudget(store, clock=utc_now, tokens_a_day=self.settings.chat_tokens_a_day)
        asking = self._asking(budget)
        drafting = None if asking is None else Drafting(asking)
        indexer = Indexer(
            store,
            index,
            encoder,
            self._parts.sparse,
            flush_every_s=self.settings.flush_every_s,
        )
        operations = OperationService(
            store=store,
            runners=[
                DistillRunner(
                    store, remembering, likeness=lambda: TextLikeness(encoder), asking=asking
                ),
                ConsolidateRunner(store, encoder, clock=utc_now, drafting=drafting),
                EvolveRunner(store, remembering, encoder, clock=utc_now),
                ReindexRunner(indexer),
                EraseRunner(
                    store,
                    indexer,
                    vector_names=partial(vector_names, encoder),
                    starts_over=isinstance(index, EdgeIndex),
                    forget=caches,
                ),
            ],
            clock=utc_now,
            wake=self._wake_dispatcher,
            settle=indexer.catch_up,
        )
        vectors = VersionVectors(store, encoder)
        # Few are kept, and not those that a retrieve keeps: an export asks for each once.
        exported = VersionVectors(store, encoder, kept=EXPORTED_VECTORS_KEPT)
        scorers = Scorers(encoder)
        handed = Handed()
        retrieve = Retrieve(
            store,
            index,
            encoder,
            self._parts.sparse,
            access,
            chooser=Serving(scorers, self.metrics),
            vectors=vectors,
            handed=handed,
            meter=self.metrics,
            clock=utc_now,
            new_id=uuid7,
        )
        policies = Lifecycle(
            store,
            access,
            Proving(store, scorers, vectors, encoder=encoder.fingerprint),
            encoder,
            clock=utc_now,
            new_id=uuid7,
        )
        nearby = Nearby(store, index, encoder)
        writing = Writing(
            store,
            remembering,
            Searching(index, encoder, self._parts.sparse),
            Deciding(scorers, self.metrics, new_id=uuid7, encoder=encoder.fingerprint),
            handed,
            encoder=encoder,
            meter=self.metrics,
            clock=utc_now,
            new_id=uuid7,
            asking=asking,
        )
        summing_up = SummingUp(count=encoder.count_tokens, asking=asking)
        sessions = Sessions(store, access, count=encoder.count_tokens, counter=encoder.counter)
        recording = Recording(
            access,
            clock=utc_now,
            most_events=self.settings.session_events,
            most_bytes=self.settings.session_event_bytes,
        )
        consolidating = Consolidating(operations)
        forgetting = Forgetting(store, clock=utc_now)
        scheduling = Scheduling(store, consolidating, clock=utc_now)
        housekeeping = Housekeeping(
            store,
            policies,
            Keeping(days=self.settings.decisions_kept_days, most=self.settings.decisions_kept),
            clock=utc_now,
            every_s=self.settings.housekeeping_s,
            also=[forgetting.expire, forgetting.bound, scheduling.consolidate],
        )
        gate = Gate()
        tracing = Tracing(store)
        trajectories = Trajectories(store, access, clock=utc_now, new_id=uuid7)
        caches += [
            access.forget,
            retrieve.forget,
            vectors.forget,
            exported.forget,
            nearby.forget,
            handed.forget,
        ]
        if drafting is not None:
            caches.append(drafting.forget)
        backing_up = BackingUp(
            store,
            access,
            indexer,
            gate,
            encoder=encoder.fingerprint,
            scratch=self.settings.data,
            forget=caches,
            protecting=protecting,
            vector_names=partial(vector_names, encoder),
        )
        return Services(
            store=store,
            access=access,
            trajectories=trajectories,
            practising=Practising(store, trajectories, clock=utc_now),
            remembering=remembering,
            writing=writing,
            restoring=Restoring(remembering, access, clock=utc_now),
            tracing=tracing,
            importing=Importing(remembering, new_id=uuid7),
            quarantine=Quarantine(access),
            skill_exporting=SkillExporting(store, clock=utc_now),
            cards=Cards(store, tracing, clock=utc_now),
            unsealing=Unsealing(store, protecting),
            erasing=Erasing(store, access, operations),
            entities=Entities(store, clock=utc_now),
            retrieve=retrieve,
            grep=Grepping(store, access, clock=time.monotonic),
            policies=policies,
            exploring=Exploring(store, access),
            overview=Overviewing(store),
            housekeeping=housekeeping,
            settling=Settling(store, access),
            valuing=Valuing(store),
            routing=Routing(store, retrieve),
            evolving=Evolving(store, operations),
            portfolios=Portfolios(store),
            distilling=Distilling(operations, has_model=asking is not None),
            consolidating=consolidating,
            reindexing=Reindexing(operations, access),
            changing=Changing(store),
            exporting=Exporting(
                store,
                access,
                exported,
                encoder=encoder.fingerprint,
            ),
            operations=operations,
            guiding=Guiding(remembering),
            similar_cases=SimilarCases(store, access, encoder, vectors, clock=utc_now),
            indexer=indexer,
            gate=gate,
            backing_up=backing_up,
            asking=asking,
            model_budget=budget,
            guarding=Guarding(
                store,
                nearby,
                asking=asking,
                bound=self.settings.guardrail_bound,
                settle=lambda: indexer.catch_up(SETTLE_S),
                clock=utc_now,
                new_id=uuid7,
            ),
            preferring=Preferring(
                store,
                nearby,
                asking=asking,
                settle=lambda: indexer.catch_up(SETTLE_S),
                clock=utc_now,
                new_id=uuid7,
            ),
            recording=recording,
            sessions=sessions,
            ending=Ending(store, access, remembering, writing, summing_up, clock=utc_now),
            tools=memory_tools(
                access=access,
                remembering=remembering,
                retrieve=retrieve,
                sessions=sessions,
                recording=recording,
                summing_up=summing_up,
                count=encoder.count_tokens,
            ),
            readiness=Readiness(
                store,
                index,
                indexer,
                alive={
                    "indexer": lambda: indexer.alive,
                    "dispatcher": lambda: self._dispatcher.alive,
                    "housekeeping": lambda: housekeeping.alive,
                    **self._parts.alive,
                },
            ),
        )


def readings(services: Services, encoder: Encoder) -> Readings:
    """What `/metrics` tells of parts that count for themselves, as ours do."""
    found = Readings(services.readiness.report)
    if isinstance(store := services.store, SqlStore):
        found = replace(
            found,
            queues={"store": lambda: store.waiting},
            decisions_logged=lambda: store.kept,
            operations=store.operations,
            policies=store.policies_in_use,
            changes=store.written,
        )
    if isinstance(encoder, BatchingEncoder):
        found = replace(
            found,
            queues={**found.queues, "encoder": lambda: encoder.waiting},
            query_vectors={"kept": lambda: encoder.known, "encoded": lambda: encoder.encoded},
        )
    return found


def dbos_jobs(work: Work, settings: Settings) -> Jobs:
    return DbosJobs(
        work,
        database_url=jobs_url(settings),
        executor_id=executor_identity(settings.data / "executor"),
        workers=settings.workers,
    )


def limits(settings: Settings) -> Limits:
    return Limits(
        body=settings.body_limit,
        depth=settings.json_depth,
        text=settings.text_limit,
        page=settings.page_default,
        page_most=settings.page_most,
        wait_s=settings.wait_s,
        restore=settings.restore_limit,
    )
