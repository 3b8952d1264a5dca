# What `make install` puts where. Included by the Makefile, which sets the variables.

CMAKE_DIR := $(LIBDIR)/cmake/Probity
MAN_PAGES := $(wildcard man/*.1 man/*.3)
SUBSTITUTE = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
    -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@SHARED@|$(SHARED)|g' -e 's|@SONAME@|$(SONAME)|g'

# Every file of an installation, for uninstall.
INSTALLED = $(BINDIR)/probity $(addprefix $(INCLUDEDIR)/,$(notdir $(wildcard include/*.h))) \
    $(addprefix $(LIBDIR)/,libprobity.a $(SHARED) $(SONAME) libprobity.so pkgconfig/probity.pc) \
    $(addprefix $(CMAKE_DIR)/,ProbityConfig.cmake ProbityConfigVersion.cmake) \
    $(foreach m,$(MAN_PAGES),$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
    $(DATADIR)/bash-completion/completions/probity $(DATADIR)/zsh/site-functions/_probity \
    $(DATADIR)/fish/vendor_completions.d/probity.fish

install: lib tool ## Install under PREFIX (/usr/local) below DESTDIR
	install -d $(sort $(dir $(addprefix $(DESTDIR),$(INSTALLED))))
	install -m 755 $(TOOL) $(DESTDIR)$(BINDIR)/probity
	install -m 644 $(wildcard include/*.h) $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(STATIC_LIB) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SHARED_LIB) $(DESTDIR)$(LIBDIR)/
	ln -sf $(SHARED) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libprobity.so
	$(SUBSTITUTE) packaging/probity.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/probity.pc
	$(SUBSTITUTE) packaging/ProbityConfig.cmake.in > $(DESTDIR)$(CMAKE_DIR)/ProbityConfig.cmake
	$(SUBSTITUTE) packaging/ProbityConfigVersion.cmake.in \
	    > $(DESTDIR)$(CMAKE_DIR)/ProbityConfigVersion.cmake
	for page in $(MAN_PAGES); do \
	    install -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/ || exit 1; done
	install -m 644 completion/probity.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/probity
	install -m 644 completion/_probity $(DESTDIR)$(DATADIR)/zsh/site-functions/_probity
	install -m 644 completion/probity.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/
	if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ] && command -v ldconfig > /dev/null; then ldconfig; fi

uninstall: ## Remove what install put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(CMAKE_DIR) 2> /dev/null
